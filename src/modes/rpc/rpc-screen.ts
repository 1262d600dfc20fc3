import { randomUUID } from "node:crypto";
import { PLAIN_THEME } from "../../hooks/plain-theme.js";
import type { HookScreen, ScreenOwner, WidgetContent } from "../../hooks/session-ui.js";
import type { WidgetPlacement } from "../../hooks/types.js";
import type { HookScreenRequest, RpcEvent } from "./protocol.js";

/** Tells the client what hooks show. Components cannot be sent: `custom` is canceled, and the others are no-ops. */
export class RpcScreen implements HookScreen {
	readonly theme = PLAIN_THEME;

	constructor(private readonly send: (event: RpcEvent) => void) {}

	setStatus(owner: ScreenOwner, statusKey: string, statusText: string | undefined): void {
		this.#show({ method: "setStatus", statusKey, ...(statusText === undefined ? {} : { statusText }) }, owner);
	}

	setWidget(
		owner: ScreenOwner,
		widgetKey: string,
		content: WidgetContent | undefined,
		widgetPlacement: WidgetPlacement,
	): void {
		if (typeof content === "function") return;
		const lines = content === undefined ? {} : { widgetLines: [...content] };
		this.#show({ method: "setWidget", widgetKey, ...lines, widgetPlacement }, owner);
	}

	async custom(): Promise<null> {
		return null;
	}

	setTitle(owner: ScreenOwner, title: string | undefined): void {
		this.#show({ method: "setTitle", ...(title === undefined ? {} : { title }) }, owner);
	}

	setWorkingMessage(owner: ScreenOwner, message: string | undefined): void {
		this.#show({ method: "setWorkingMessage", ...(message === undefined ? {} : { message }) }, owner);
	}

	setLook(): void {}

	setFooter(): void {}

	setHeader(): void {}

	setEditor(): void {}

	addAutocompleteProvider(): () => void {
		return () => {};
	}

	pasteToEditor(text: string): void {
		this.#show({ method: "set_editor_text", text });
	}

	getEditorText(): string {
		return "";
	}

	setEditorText(text: string): void {
		this.#show({ method: "set_editor_text", text });
	}

	#show(fields: HookScreenRequest, owner?: ScreenOwner): void {
		this.send({ type: "hook_ui_request", id: randomUUID(), ...(owner ? { hook: owner.name } : {}), ...fields });
	}
}
