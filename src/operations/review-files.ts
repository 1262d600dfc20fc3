import type { FileReview } from "../commands/review.js";
import type { SessionComponents } from "../session/session-components.js";
import { operation } from "./operation.js";

/** Begins a review of the files that tool calls changed, in which each change is kept or reverted. */
export const reviewFiles = operation({
	request: null,
	run: ({ files }: SessionComponents): FileReview => files.review(),
});
