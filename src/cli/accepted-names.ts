import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { Paths } from "../config/paths.js";
import { packageVersion } from "../util/package-root.js";
import type { CliOptions } from "./options.js";

type Names = Pick<CliOptions, "model" | "provider" | "models">;

/** Maximum number of names in the file; the oldest ones are dropped. */
const MAX_NAMES = 100;

/**
 * Model options that were accepted by this version with this models.json. Checking them loads most of the program, which
 * would delay the first paint; the session checks them again anyway.
 */
export class AcceptedNames {
	readonly #file: string;
	readonly #state: string;

	constructor({ acceptedNames, models }: Pick<Paths, "acceptedNames" | "models">) {
		this.#file = acceptedNames;
		const stats = statSync(models, { throwIfNoEntry: false });
		this.#state = `${packageVersion()} ${stats?.mtimeMs} ${stats?.size}`;
	}

	has(names: Names): boolean {
		return this.#read().includes(keyOf(names));
	}

	/** Never throws: without the file, only the start takes longer. */
	add(names: Names): void {
		try {
			mkdirSync(dirname(this.#file), { recursive: true, mode: 0o700 });
			const kept = [...this.#read(), keyOf(names)].slice(-MAX_NAMES);
			writeFileSync(this.#file, JSON.stringify({ state: this.#state, names: kept }), { mode: 0o600 });
		} catch {
			// The agent directory is not writable.
		}
	}

	#read(): unknown[] {
		try {
			const { state, names } = JSON.parse(readFileSync(this.#file, "utf8"));
			return state === this.#state && Array.isArray(names) ? names : [];
		} catch {
			return []; // missing, or another process is writing it
		}
	}
}

function keyOf({ model, provider, models }: Names): string {
	return JSON.stringify([model ?? null, provider ?? null, models ?? null]);
}
