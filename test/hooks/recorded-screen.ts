import { PLAIN_THEME } from "../../src/hooks/plain-theme.js";
import type { HookScreen, ScreenOwner } from "../../src/hooks/session-ui.js";

/** A screen that keeps what each hook shows, and draws nothing. Values are texts, and factories that return a text. */
export class RecordedScreen implements HookScreen {
	readonly theme = PLAIN_THEME;
	readonly #shown = new Map<string, unknown>();

	/** Values that hooks show with a member of `ctx.ui`. */
	shownWith(member: string): string[] {
		return [...this.#shown].flatMap(([id, value]) => (id.startsWith(`${member} `) ? [String(value)] : []));
	}

	setStatus(owner: ScreenOwner, key: string, text: string | undefined): void {
		this.#set(owner, `setStatus ${key}`, text);
	}

	setWidget(owner: ScreenOwner, key: string, content: unknown): void {
		this.#set(owner, `setWidget ${key}`, content);
	}

	setTitle(owner: ScreenOwner, title: string | undefined): void {
		this.#set(owner, "setTitle", title);
	}

	setWorkingMessage(owner: ScreenOwner, message: string | undefined): void {
		this.#set(owner, "setWorkingMessage", message);
	}

	setLook(owner: ScreenOwner, name: string, value: unknown): void {
		this.#set(owner, `setLook ${name}`, value);
	}

	setFooter(owner: ScreenOwner, factory: unknown): void {
		this.#set(owner, "setFooter", made(factory));
	}

	setHeader(owner: ScreenOwner, factory: unknown): void {
		this.#set(owner, "setHeader", made(factory));
	}

	setEditor(owner: ScreenOwner, factory: unknown): void {
		this.#set(owner, "setEditor", made(factory));
	}

	addAutocompleteProvider(owner: ScreenOwner, factory: unknown): () => void {
		const member = `addAutocompleteProvider ${made(factory)}`;
		this.#set(owner, member, made(factory));
		return () => this.#set(owner, member, undefined);
	}

	/** Shows it until the signal aborts. */
	custom<T>(owner: ScreenOwner, factory: unknown, { signal }: { signal: AbortSignal }): Promise<T | null> {
		const member = `custom ${made(factory)}`;
		this.#set(owner, member, made(factory));
		return new Promise((resolve) => {
			const close = () => {
				this.#set(owner, member, undefined);
				resolve(null);
			};
			signal.addEventListener("abort", close, { once: true });
		});
	}

	pasteToEditor(): void {}

	getEditorText(): string {
		return "";
	}

	setEditorText(): void {}

	#set({ path }: ScreenOwner, member: string, value: unknown): void {
		const id = `${member} of ${path}`;
		if (value === undefined) this.#shown.delete(id);
		else this.#shown.set(id, value);
	}
}

function made(factory: unknown): unknown {
	return typeof factory === "function" ? factory() : factory;
}
