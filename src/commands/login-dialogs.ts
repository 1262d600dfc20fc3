/** User interaction of a login through a web site. */
export interface LoginDialogs {
	/** Shows an address to open, with instructions, until `signal` aborts: it is of no use after the login. */
	onAddress(url: string, instructions: string | undefined, signal: AbortSignal): void;
	/** Copies the address to the clipboard, and says so. Never throws. Absent without a clipboard. */
	copyAddress?(url: string): Promise<void>;
	/** @param signal closes the question without an answer */
	ask(message: string, placeholder?: string, signal?: AbortSignal): Promise<string | null>;
	choose(message: string, options: { label: string; value: string }[], signal?: AbortSignal): Promise<string | null>;
	onProgress(message: string): void;
}
