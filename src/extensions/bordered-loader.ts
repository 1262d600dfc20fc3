import type { loadTerminalLibrary } from "../hooks/shared-modules.js";
import type { ExtensionTheme } from "./extension-theme.js";

type TerminalLibrary = Awaited<ReturnType<typeof loadTerminalLibrary>>;

/** Makes the class of a component that shows that an extension works, between two borders, until Escape. */
export function borderedLoader({ CancellableLoader, Container, Loader, Spacer, Text }: TerminalLibrary): object {
	return class BorderedLoader extends Container {
		readonly #loader: InstanceType<TerminalLibrary["Loader"]>;
		readonly #ended = new AbortController();

		constructor(
			tui: ConstructorParameters<TerminalLibrary["Loader"]>[0],
			theme: Pick<ExtensionTheme, "fg">,
			message: string,
			{ cancellable = true }: { cancellable?: boolean } = {},
		) {
			super();
			const color = (name: string) => (text: string) => theme.fg(name, text);
			const border = {
				invalidate() {},
				render: (width: number) => [theme.fg("border", "─".repeat(Math.max(1, width)))],
			};
			this.#loader = new (cancellable ? CancellableLoader : Loader)(tui, color("accent"), color("muted"), message);
			this.addChild(border);
			this.addChild(this.#loader);
			if (cancellable) {
				this.addChild(new Spacer(1));
				this.addChild(new Text(theme.fg("dim", "esc cancel"), 1, 0));
			}
			this.addChild(new Spacer(1));
			this.addChild(border);
		}

		/** Aborted by Escape. */
		get signal(): AbortSignal {
			return this.#loader instanceof CancellableLoader ? this.#loader.signal : this.#ended.signal;
		}

		/** Called when the user presses Escape. */
		set onAbort(listener: () => void) {
			if (this.#loader instanceof CancellableLoader) this.#loader.onAbort = listener;
		}

		handleInput(data: string): void {
			if (this.#loader instanceof CancellableLoader) this.#loader.handleInput(data);
		}

		dispose(): void {
			this.#loader.stop();
		}
	};
}
