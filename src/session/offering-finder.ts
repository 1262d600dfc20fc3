import type { Credentials } from "../models/credentials.js";
import type { ModelRegistry } from "../models/models.js";
import type { Network } from "../network/network.js";
import type { FindOffering } from "./session-models.js";

export interface OfferingFinderOptions {
	registry: ModelRegistry;
	credentials: Credentials;
	network: Network;
	isOffline: boolean;
}

/** Loads what asks providers when it is first needed: most sessions never ask. @returns undefined offline */
export function offeringFinder({ isOffline, ...sources }: OfferingFinderOptions): FindOffering | undefined {
	if (isOffline) return undefined;
	return async (id) => (await import("../models/update/find-offering.js")).findOffering(id, sources);
}
