import type { FileContent } from "../log/entry.js";
import type { Hunk } from "../util/hunks.js";

/** Which changes are reviewed: those of the last prompt that changed files, or all of the session. */
export type ReviewScope = "turn" | "session";

/** A file that tools changed: its content before, with the changes that the user kept, and its content now. */
export interface ReviewedFile {
	/** Absolute path on the machine. */
	path: string;
	/** Name of the machine, if it does not have the files of the machine where pi runs. */
	on?: string;
	/** The first entry whose changes are reviewed. */
	from: number;
	before: FileContent;
	now: FileContent;
	/** The texts; empty for a file that does not exist, null for what is not text. */
	beforeText: string | null;
	nowText: string | null;
	/** Empty without both texts. */
	hunks: readonly Hunk[];
	/** Something else changed the file, too: hunks may be its changes. */
	isShared: boolean;
	/** Why the changes cannot be reverted; null if they can. */
	problem: string | null;
	/** The file could be executed before. */
	executable?: true;
}

/** What tools changed, as far as it is known. */
export interface ReviewedChanges {
	files: readonly ReviewedFile[];
	/** Why changes of shell commands are not known; null if they are, or if there were no commands. */
	unknownCommands: string | null;
}

export type ReviewDecision = "keep" | "revert";

/** The reviewed file after a decision, null if nothing of it is left to review; or why nothing was done, as a clause. */
export type ReviewOutcome = { path: string; file: ReviewedFile | null } | { problem: string };

/** What the user says about a change. */
export interface ReviewComment {
	file: ReviewedFile;
	/** null: about the file. */
	hunk: Hunk | null;
	text: string;
}

/** Reviews what tools changed in files. */
export interface FileReview {
	/** The changes that are still to be reviewed, by file, in the order of their first change. */
	read(scope: ReviewScope): Promise<ReviewedChanges>;
	/**
	 * Keeps or reverts a hunk of a file, or the complete file.
	 * @throws PiError `session_busy`, `log_read_only`
	 */
	decide(file: ReviewedFile, decision: ReviewDecision, hunk?: Hunk): Promise<ReviewOutcome>;
	/** Takes back the last decision of this review. @returns null if all are taken back */
	takeBack(): Promise<ReviewOutcome | null>;
	/** Notifies the model of the reverted changes. Call it once, when the review ends. */
	end(): void;
}
