import { BackgroundJobs } from "../../tools/background-jobs.js";
import { countJobs, describeJobState, type JobStatus, shortCommand } from "../../tools/job-status.js";
import type { AgentSessionEvent } from "../events.js";
import type { SystemItems } from "../prompt/prompt-queue.js";

/** Source of the system items. */
const SOURCE = "jobs";

/** @internal */
interface SessionJobsDeps {
	emit(event: AgentSessionEvent): void;
	systemItems: Pick<SystemItems, "add">;
}

/**
 * The background commands of a session. Each end becomes a notice for the user and a system item for the model. They
 * survive the end of a run, compactions and reloads, and end with the session; if pi is killed, the reaper ends them.
 */
export class SessionJobs {
	/** For tools. */
	readonly table: BackgroundJobs;

	/** @internal */
	constructor(private readonly deps: SessionJobsDeps) {
		this.table = new BackgroundJobs((job, lastLines) => this.#changed(job, lastLines));
	}

	/** All commands that are listed, oldest first. */
	list(): JobStatus[] {
		return this.table.list();
	}

	/** Number of commands that run. */
	get running(): number {
		return this.list().filter(({ isRunning }) => isRunning).length;
	}

	/** The last lines of a command's output; empty for an unknown id. */
	lastLines(id: string, count: number): string[] {
		return this.table.lastLines(id, count);
	}

	/** Ends a command for the user. Resolves when it has ended. */
	stop(id: string): Promise<void> {
		return this.table.stop(id, "user");
	}

	/**
	 * Ends all commands because the session ends.
	 * @returns a line that names them; null when none was running
	 */
	endAll(): string | null {
		const ended = this.table.endAll();
		if (ended.length === 0) return null;
		const names = ended.map(({ id, command }) => `${id} (${shortCommand(command, 40)})`).join(", ");
		return `Ended ${countJobs(ended.length)} with the session: ${names}`;
	}

	#changed(job: JobStatus, lastLines: readonly string[]): void {
		if (job.isRunning) {
			this.deps.emit({ type: "job_start", job });
			return;
		}
		// The model reads the end of a command that it stops in the result of that call.
		if (job.endedBy !== "model") {
			this.deps.systemItems.add(SOURCE, { kind: "notification", text: describeEnd(job, lastLines) });
		}
		this.deps.emit({ type: "job_end", job });
		// The user knows of the others.
		if (job.endedBy === "user" || job.endedBy === "model" || job.endedBy === "session") return;
		const message = `${job.id}: ${describeJobState(job)}: ${shortCommand(job.command)}`;
		this.deps.emit({ type: "notice", level: job.exitCode === 0 ? "info" : "warning", message });
	}
}

/** For the model. */
function describeEnd(job: JobStatus, lastLines: readonly string[]): string {
	return [
		`Background command ${job.id} has ended: ${describeJobState(job)}`,
		`Command: ${shortCommand(job.command)}`,
		...(lastLines.length === 0 ? ["It printed nothing."] : ["Last lines of its output:", ...lastLines]),
		...(job.outputPath === undefined ? [] : [`Output: ${job.outputPath}`]),
	].join("\n");
}
