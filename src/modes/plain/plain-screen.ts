import { PLAIN_THEME } from "../../hooks/plain-theme.js";
import type { HookScreen, ScreenOwner } from "../../hooks/session-ui.js";
import { type PlainOutput, plainLine } from "./plain-output.js";

/** The mode as its screen for hooks uses it. */
export interface PlainScreenHost {
	output: PlainOutput;
	isIdle(): boolean;
	getDraft(): string;
	setDraft(text: string): void;
}

/** A longer status is not read out. Characters. */
const MAX_STATUS = 80;

/**
 * What hooks show, for someone who hears it. A status is printed when it has changed and the session is idle: progress
 * would interrupt the answer. From one prompt to the next it is printed again only with other words, so that clocks and
 * spinners do not fill the output. Blocks and components that stay on a screen are not printed, because they would be
 * repeated.
 */
export class PlainScreen implements HookScreen {
	readonly theme = PLAIN_THEME;
	/** The statuses that have changed since they were printed. */
	readonly #changed = new Map<string, { name: string; text: string }>();
	readonly #printed = new Map<string, string>();
	/** The words of each status that were printed since the last prompt. */
	readonly #said = new Map<string, Set<string>>();

	constructor(private readonly host: PlainScreenHost) {}

	setStatus({ name, path }: ScreenOwner, key: string, text: string | undefined): void {
		const id = `${path}\n${key}`;
		this.#changed.delete(id);
		const line = text === undefined ? "" : plainLine(text).trim();
		if (line === "") this.#printed.delete(id);
		else if (line.length <= MAX_STATUS && line !== this.#printed.get(id)) this.#changed.set(id, { name, text: line });
		if (this.host.isIdle()) this.printStatuses();
	}

	/** Lets every status be printed again. Call when the user sends something. */
	beginPrompt(): void {
		this.#said.clear();
	}

	/** Prints the statuses that have changed. Call when the session is idle. */
	printStatuses(): void {
		for (const [id, { name, text }] of this.#changed) {
			const said = this.#said.get(id) ?? new Set();
			const words = text.replace(/[^\p{L}]+/gu, " ").trim();
			if (said.has(words)) continue;
			this.#said.set(id, said.add(words));
			this.#changed.delete(id);
			this.#printed.set(id, text);
			this.host.output.say(`${plainLine(name)}: ${text}`);
		}
	}

	setWidget(): void {}

	async custom({ name }: ScreenOwner): Promise<null> {
		this.host.output.say(`${plainLine(name)} needs a screen: start pi without --plain`);
		return null;
	}

	setTitle(): void {}

	setWorkingMessage(): void {}

	setLook(): void {}

	setFooter(): void {}

	setHeader(): void {}

	setEditor(): void {}

	addAutocompleteProvider(): () => void {
		return () => {};
	}

	pasteToEditor(text: string): void {
		this.host.setDraft(this.host.getDraft() + text);
	}

	getEditorText(): string {
		return this.host.getDraft();
	}

	setEditorText(text: string): void {
		this.host.setDraft(text);
	}
}
