import { withRefusals } from "./with-refusals.js";

/** The package of the agent loop, whose types extensions import: pi has a loop of its own. */
export const AGENT_CORE: object = withRefusals("@earendil-works/pi-agent-core", {});

/** A UUID of version 7: sorted by time. */
function uuidv7(): string {
	const bytes = Buffer.from(crypto.getRandomValues(new Uint8Array(16)));
	bytes.writeUIntBE(Date.now(), 0, 6);
	bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x70;
	bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80;
	return bytes.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}

/** The library of models for extensions. Names that it lacks throw when they are used. */
export function modelLibrary(library: object): object {
	return withRefusals("@earendil-works/pi-ai", { ...library, uuidv7 });
}

/** The library of the terminal for extensions. Names that it lacks throw when they are used. */
export function terminalLibrary(library: object): object {
	return withRefusals("@earendil-works/pi-tui", { ...library });
}
