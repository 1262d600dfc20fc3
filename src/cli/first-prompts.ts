import type { SourceImage } from "../images/sent-image.js";
import type { CliOptions } from "./options.js";

/** Prompts of a command line; a function if flags of hooks decide which words are prompts. */
export type FirstPrompts = Prompt[] | (() => Promise<Prompt[]>);

type Prompt = { text: string; images?: readonly SourceImage[] };

/**
 * Prompts of the command line, in order. Called while the terminal is in cooked mode: a file can be a FIFO without a writer, and
 * Ctrl+C ends the wait for it.
 * @throws PiError `bad_arguments` for a file that cannot be read
 */
export async function firstPrompts(options: CliOptions, base: { cwd: string; home: string }): Promise<FirstPrompts> {
	const { hookFlags } = options;
	return hookFlags ? () => readPrompts({ ...options, ...hookFlags.words() }, base) : readPrompts(options, base);
}

async function readPrompts(
	{ files, messages, resume }: CliOptions,
	base: { cwd: string; home: string },
): Promise<Prompt[]> {
	const resuming = resume ? [{ text: "/resume" }] : [];
	if (files.length + messages.length === 0) return resuming;
	const { composePrompt, loadFileArguments } = await import("./prompt-input.js");
	const { first, rest } = composePrompt({ files: await loadFileArguments(files, base), messages });
	return [...resuming, ...(first ? [first] : []), ...rest.map((text) => ({ text }))];
}
