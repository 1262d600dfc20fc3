/** A line for the editor in demo mode. */
export interface DemoPrompt {
	text: string;
	/** What it shows, for a list of suggestions. */
	note: string;
	/** Commands need a session with a screen; prompts can be played through anywhere. */
	kind: "prompt" | "command";
}

/** What there is to try in the demo, in this order. The first is typed for the user. */
export const DEMO_PROMPTS: readonly DemoPrompt[] = [
	{
		text: "The tests fail. Find out why, fix it and run them again.",
		note: "real tools at work on a scratch project",
		kind: "prompt",
	},
	{ text: "What does /pop do?", note: "fold finished work into a summary", kind: "prompt" },
	{ text: "/context", note: "see every message that the model gets, and why", kind: "command" },
	{ text: "/pop", note: "go back to an earlier message and keep a summary of the work since", kind: "command" },
	{ text: "What can you do?", note: "what this scripted model knows", kind: "prompt" },
];
