import { bashPresenter } from "./bash.js";
import { editPresenter, writePresenter } from "./changes.js";
import { genericPresenter } from "./generic.js";
import { findPresenter, grepPresenter, lsPresenter, readPresenter } from "./lookups.js";
import type { ToolPresenter } from "./presenter.js";

const PRESENTERS: ReadonlyMap<string, ToolPresenter> = new Map([
	["bash", bashPresenter],
	["read", readPresenter],
	["grep", grepPresenter],
	["find", findPresenter],
	["ls", lsPresenter],
	["edit", editPresenter],
	["write", writePresenter],
]);

/** How calls of a tool look; tools that are not built in share one look. */
export function presenterOf(toolName: string): ToolPresenter {
	return PRESENTERS.get(toolName) ?? genericPresenter;
}
