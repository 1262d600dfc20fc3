import type { HookStatus, Inspector } from "../../../commands/inspection.js";
import { describeShadow, type ShadowFigures, summarizeShadow } from "../../../commands/shadow-figures.js";
import { errorText } from "../../../errors.js";

/** What computes the figures of the hooks in the shadow, and who shows them. */
export interface ShadowRunOptions {
	play: Inspector["playShadows"];
	requestRender(): void;
	/** Aborts when the panel closes. */
	closed: AbortSignal;
}

/** The figures of the hooks in the shadow while they are computed and afterwards. */
export class ShadowRun {
	#figures: ReadonlyMap<string, ShadowFigures> = new Map();
	/** Percent of the work that is done. */
	#percent = 0;
	#problem: string | null = null;
	#stop = new AbortController();

	constructor(private readonly options: ShadowRunOptions) {}

	/** Computes the figures again if a hook is in the shadow. Those of before are shown until then. */
	start(statuses: readonly HookStatus[]): void {
		this.#stop.abort();
		this.#stop = new AbortController();
		this.#percent = 0;
		this.#problem = null;
		if (statuses.some(({ isShadow }) => isShadow))
			void this.#play(AbortSignal.any([this.#stop.signal, this.options.closed]));
	}

	/** A few words for the row of a hook. */
	summary(path: string): string {
		const figures = this.#figures.get(path);
		if (figures) return summarizeShadow(figures);
		return this.#problem === null ? `computing ${this.#percent} %` : "failed";
	}

	/** All that is known of a hook, one line each. */
	lines(path: string): string[] {
		const figures = this.#figures.get(path);
		if (figures) return describeShadow(figures);
		return [this.#problem ?? `computing what it would have sent: ${this.#percent} %`];
	}

	async #play(signal: AbortSignal): Promise<void> {
		const onProgress = (share: number) => {
			const percent = Math.floor(100 * share);
			if (signal.aborted || percent === this.#percent) return;
			this.#percent = percent;
			this.options.requestRender();
		};
		try {
			const figures = await this.options.play({ signal, onProgress });
			if (figures && !signal.aborted) this.#figures = figures;
		} catch (error) {
			if (!signal.aborted) this.#problem = errorText(error);
		}
		if (!signal.aborted) this.options.requestRender();
	}
}
