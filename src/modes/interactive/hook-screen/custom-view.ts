import { type Component, type Focusable, isKeyRelease, matchesKey, visibleWidth } from "@mariozechner/pi-tui";
import { isComponent } from "../../../hooks/tool-drawing.js";
import type { HookComponent } from "../../../hooks/types.js";
import { ContainedComponent, type ContainedOptions } from "../../../tui/contained.js";
import { clipLine } from "../../../tui/line.js";
import type { Theme } from "../../../tui/theme.js";
import { monotonicMs } from "../../../util/clock.js";
import { cleanLine } from "../clean-text.js";

/** A component of a hook that receives all keys. */
export interface CustomViewOptions extends Omit<ContainedOptions, "onError" | "requestRender" | "errorStyle"> {
	theme: Theme;
	/** Closes the component without a result. */
	onCancel(): void;
	/** Reports a failure of the component and closes it. */
	onFailed(error: unknown): void;
	requestFrame(): void;
}

/** Two presses of Ctrl+C within this time close any component, ms. */
const DOUBLE_PRESS_MS = 500;

/**
 * Shows a component of a hook under a rule with the hook's name. Escape closes it unless the component reacts to the key:
 * calls `done`, or looks different after it. Ctrl+C twice closes it always.
 */
export class CustomView implements Component, Focusable {
	#view: ContainedComponent | null = null;
	#isFocused = false;
	#isClosed = false;
	#interruptedAt = Number.NEGATIVE_INFINITY;
	#width = 80;

	constructor(private readonly options: CustomViewOptions) {}

	/** Shows a component; until it exists, only the rule is shown. */
	async show(made: HookComponent | Promise<HookComponent>): Promise<void> {
		const component: unknown = made instanceof Promise ? await made : made;
		if (!isComponent(component)) throw new TypeError("the factory did not return a component");
		const { onFailed, theme } = this.options;
		this.#view = new ContainedComponent(component, {
			...this.options,
			errorStyle: theme.error,
			// Code that throws does not recover. Not now: a frame is drawn.
			onError: (error) => queueMicrotask(() => onFailed(error)),
		});
		if (this.#isClosed) this.dispose();
		this.#view.focused = this.#isFocused;
		this.options.requestFrame();
	}

	get focused(): boolean {
		return this.#isFocused;
	}

	set focused(isFocused: boolean) {
		this.#isFocused = isFocused;
		if (this.#view) this.#view.focused = isFocused;
	}

	get wantsKeyRelease(): boolean {
		return this.#view?.wantsKeyRelease ?? false;
	}

	render(width: number): string[] {
		const { theme, name } = this.options;
		this.#width = width;
		const title = clipLine(`── ${cleanLine(name, 60)} `, width);
		const rule = theme.dim(title + "─".repeat(Math.max(0, width - visibleWidth(title))));
		return [rule, ...(this.#view?.render(width) ?? [])];
	}

	handleInput(data: string): void {
		const isPress = !isKeyRelease(data);
		if (isPress && this.#isSecondInterrupt(data)) {
			this.options.onCancel();
			return;
		}
		const before = isPress && matchesKey(data, "escape") ? this.#look() : null;
		try {
			this.#view?.handleInput(data);
		} catch (error) {
			this.options.onFailed(error);
			return;
		}
		if (before !== null && !this.#isClosed && before === this.#look()) this.options.onCancel();
	}

	invalidate(): void {
		this.#view?.invalidate();
	}

	/** Call when the component is closed. */
	dispose(): void {
		this.#isClosed = true;
		this.#view?.dispose();
	}

	#isSecondInterrupt(data: string): boolean {
		const before = this.#interruptedAt;
		const isInterrupt = matchesKey(data, "ctrl+c");
		this.#interruptedAt = isInterrupt ? monotonicMs() : Number.NEGATIVE_INFINITY;
		return isInterrupt && this.#interruptedAt - before <= DOUBLE_PRESS_MS;
	}

	#look(): string {
		return this.#view?.render(this.#width).join("\n") ?? "";
	}
}
