import { Worker } from "node:worker_threads";
import type { PageRequest, PageText } from "./convert-page.js";

/** Time to convert a page, ms: pages can be made so that it takes long. */
const TIMEOUT_MS = 15_000;
const MAX_MEMORY_MB = 512;

/**
 * Reads an HTML page as Markdown: its title, its author and its main text, or all of a page that has no main text. What readers
 * do not see is left out: scripts, styles, comments, and elements that are hidden by an attribute or by their own style. The page can
 * also hide text in other ways: it is still foreign text. Runs in a thread, whose memory and time are limited.
 * @param url the address of the page, which its links are relative to
 * @throws Error if the page cannot be converted, or not in 15 s; the reason of `signal` once it is aborted
 */
export async function readPage(
	html: string,
	{ url, signal }: { url: string; signal?: AbortSignal },
): Promise<PageText> {
	signal?.throwIfAborted();
	const request: PageRequest = { html, url };
	if (import.meta.url.endsWith(".ts")) {
		// Sources run without a build step; a thread would need the same loader.
		const { convertPage } = await import("./convert-page.js");
		return convertPage(request);
	}
	const worker = new Worker(new URL("./page-worker.cjs", import.meta.url), {
		name: "pi-page",
		resourceLimits: { maxOldGenerationSizeMb: MAX_MEMORY_MB },
	});
	let timer: NodeJS.Timeout | undefined;
	let abort = () => {};
	try {
		return await new Promise<PageText>((resolve, reject) => {
			abort = () => reject(signal?.reason);
			signal?.addEventListener("abort", abort, { once: true });
			timer = setTimeout(
				() => reject(new Error(`converting the page took longer than ${TIMEOUT_MS / 1000} s`)),
				TIMEOUT_MS,
			);
			worker.once("message", resolve).once("error", reject);
			worker.once("exit", () => reject(new Error("the thread that converts the page ended without a result")));
			worker.postMessage(request);
		});
	} finally {
		clearTimeout(timer);
		signal?.removeEventListener("abort", abort);
		await worker.terminate();
	}
}
