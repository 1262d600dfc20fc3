import type { ProviderAccess } from "../../models/update/ask-provider.js";
import type { FindOffering } from "./session-models.js";

export interface OfferingFinderOptions extends Pick<ProviderAccess, "registry" | "credentials" | "network"> {
	isOffline: boolean;
}

/** Loads what asks providers when it is first needed: most sessions never ask. Offline, no provider can be asked. */
export function offeringFinder({ isOffline, ...sources }: OfferingFinderOptions): FindOffering {
	return async (id, asking) => {
		const { findOffering, offlineOffering } = await import("../../models/update/find-offering.js");
		return isOffline ? offlineOffering(id, sources) : findOffering(id, { ...sources, ...asking });
	};
}
