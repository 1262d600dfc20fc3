export type { ScriptedCall } from "../demo/conversation.js";
export { PiError } from "../errors.js";
export type * from "../log/entry.js";
export { createHookTest, type HookTest, type HookTestOptions, type RunResult } from "./create-hook-test.js";
export type { AskedDialog, DialogAnswer, GivenAnswer, OpenDialog } from "./scripted-dialogs.js";
export {
	type Reply,
	type Said,
	type ScriptedFacts,
	type SeenMessage,
	type SeenRequest,
	toolCall,
} from "./scripted-model.js";
export type { OpenComponent, ShownScreen } from "./scripted-screen.js";
