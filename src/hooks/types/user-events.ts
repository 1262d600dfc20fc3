import type { Attachment } from "./attachment.js";

/**
 * Where a prompt comes from: `editor` is the interactive and the plain mode, `print` also JSON mode, `sdk` a program that
 * drives the session, `hook` `pi.send` and the prompts that commands of hooks return.
 */
export type PromptSource = "editor" | "print" | "rpc" | "sdk" | "hook";

/** `start` begins a run; during a run, `steer` is sent after the current tool calls and `followUp` after the run. */
export type PromptDelivery = "start" | "steer" | "followUp";

/** A prompt is about to become an entry. Runs for every prompt except slash commands, before its size is checked. */
export interface PromptEvent {
	type: "prompt";
	/** The text as it would be sent: prompt templates and skills are expanded. */
	readonly text: string;
	/** Images and documents, those pasted into the editor included. */
	readonly attachments: readonly Attachment[];
	readonly source: PromptSource;
	/** How it would be delivered if it were sent now. */
	readonly delivery: PromptDelivery;
}

/** Answer to `prompt`. Changes are chained: each handler receives those of the ones before it. */
export type PromptEventResult =
	/** Replaces the text, the attachments or both. The entry keeps what the user typed as `typed`. */
	| { text?: string; attachments?: readonly Attachment[] }
	/** The hook has handled the prompt: nothing is sent. The first one wins. */
	| { handled: true }
	/** Refuses the prompt for this reason; the text goes back to the editor. The first one wins. */
	| { stop: string };

/** A shell command of the user (`!`) is about to run. */
export interface UserBashEvent {
	type: "user_bash";
	readonly command: string;
	/** True for `!!`: the model does not see command and output. */
	readonly excluded: boolean;
}

/** The result of a shell command that a hook ran itself. */
export interface UserBashResult {
	output: string;
	/** Default: 0. */
	exitCode?: number | null;
	/** The command was canceled. */
	cancelled?: boolean;
	/** `output` is only the end of the output. */
	truncated?: boolean;
}

/** Answer to `user_bash`, with one of its alternatives. The first `result` or `block` wins. */
export type UserBashEventResult =
	/** Runs this command instead. Chained. */
	| { command: string; result?: undefined; block?: undefined; reason?: undefined }
	/** Runs nothing: this is the result. */
	| { result: UserBashResult; command?: undefined; block?: undefined; reason?: undefined }
	/** Runs nothing and shows the reason. */
	| { block: true; reason?: string; command?: undefined; result?: undefined };
