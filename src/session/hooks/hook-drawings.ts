import { type DrawingObserver, drawingError, entryRenderer } from "../../hooks/entry-renderer.js";
import type { HookRegistry, LoadedHook } from "../../hooks/hook-registry.js";
import { toolRenderer } from "../../hooks/hook-tool.js";
import type { ToolRenderer } from "../../hooks/tool-drawing.js";
import type { EntryOptions } from "../../hooks/types.js";
import type { SessionEntry } from "../../log/entry.js";
import type { HookHealth } from "./hook-health.js";

export interface HookDrawingsDeps {
	/** Of the running hooks. */
	registry(): HookRegistry;
	health: HookHealth;
	/** True: errors carry their stack trace. */
	verbose: boolean;
}

/** The functions with which hooks draw entries and tool calls. Their times and errors are figures of the hook. */
export class HookDrawings {
	constructor(private readonly deps: HookDrawingsDeps) {}

	/** The function with which a hook draws an entry, or any entry of a type; undefined when it has none. Never throws. */
	entryRenderer(type: string, entry?: SessionEntry): EntryOptions["render"] {
		const found = this.deps
			.registry()
			.entryType(type, entry, (failed, thrown) => this.#observe(failed.hook).onError(drawingError(failed, thrown)));
		return found && entryRenderer(found, this.#observe(found.hook));
	}

	/** How a hook draws calls of its tool; undefined when no hook provides or draws the tool. */
	toolRenderer(name: string): ToolRenderer | undefined {
		const found = this.deps.registry().tool(name);
		return found && toolRenderer(found, this.#observe(found.hook));
	}

	/** Records how a hook draws. The screen shows an error instead of the drawing, each time it draws it. */
	#observe({ path }: LoadedHook): DrawingObserver {
		const { health, verbose } = this.deps;
		return {
			onDraw: (ms) => health.recordDraw(path, ms),
			onError: (error) => health.recordError(error, verbose),
		};
	}
}
