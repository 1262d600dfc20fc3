import { type ForeignRecord, recordOf, textOf } from "./records.js";

type Row = Readonly<Record<string, unknown>>;

/** The part of a connection of `node:sqlite` that is used here. */
interface Database {
	prepare(query: string): { all(...values: string[]): Row[] };
	close(): void;
}

interface Sqlite {
	DatabaseSync: new (path: string, options: { readOnly: boolean }) => Database;
}

/** A session and its messages, as `opencode export` writes them. */
export interface OpencodeSession {
	info: ForeignRecord;
	messages: readonly { info: ForeignRecord; parts: readonly ForeignRecord[] }[];
}

/** Node 22.3 and later. */
type WithBuiltins = NodeJS.Process & { getBuiltinModule?(name: string): unknown };

/** True if this version of Node reads SQLite databases: 22.13 and later. */
export function canReadDatabases(): boolean {
	return sqlite() !== undefined;
}

/** The sessions of a database without those of subagents; empty if it cannot be read. */
export function databaseSessions(path: string): ForeignRecord[] {
	return reading(path, (database) => rowsOf(database, `${SESSIONS} WHERE parent_id IS NULL`).map(infoOf)) ?? [];
}

/** A session of a database; undefined if it is not there, or the database cannot be read. */
export function databaseSession(path: string, id: string): OpencodeSession | undefined {
	return reading(path, (database) => {
		const [session] = rowsOf(database, `${SESSIONS} WHERE id = ?`, id);
		if (!session) return undefined;
		const parts = new Map<string, ForeignRecord[]>();
		for (const row of rowsOf(database, "SELECT id, message_id, data FROM part WHERE session_id = ? ORDER BY id", id)) {
			const message = String(row.message_id);
			parts.set(message, [...(parts.get(message) ?? []), contentOf(row)]);
		}
		const messages = rowsOf(
			database,
			"SELECT id, data FROM message WHERE session_id = ? ORDER BY time_created, id",
			id,
		);
		return {
			info: infoOf(session),
			messages: messages.map((row) => ({ info: contentOf(row), parts: parts.get(String(row.id)) ?? [] })),
		};
	});
}

const SESSIONS = "SELECT id, directory, title, revert, time_created, time_updated FROM session";

/** What a document of the storage would contain. */
function infoOf(row: Row): ForeignRecord {
	const { id, directory, title, revert, time_created: created, time_updated: updated } = row;
	return { id, directory, title, revert: parsed(revert), time: { created, updated } };
}

function contentOf({ id, data }: Row): ForeignRecord {
	return { ...parsed(data), id };
}

function parsed(text: unknown): ForeignRecord {
	try {
		return recordOf(JSON.parse(textOf(text) ?? "{}"));
	} catch {
		return {};
	}
}

function rowsOf(database: Database, query: string, ...values: string[]): Row[] {
	return database.prepare(query).all(...values);
}

/** @returns undefined if Node cannot read it, or it has other tables */
function reading<T>(path: string, read: (database: Database) => T): T | undefined {
	const module = sqlite();
	if (!module) return undefined;
	try {
		const database = new module.DatabaseSync(path, { readOnly: true });
		try {
			return read(database);
		} finally {
			database.close();
		}
	} catch {
		return undefined;
	}
}

function sqlite(): Sqlite | undefined {
	const { emitWarning } = process;
	// Node warns of an experimental module on stderr, in the middle of the screen.
	process.emitWarning = () => {};
	try {
		return (process as WithBuiltins).getBuiltinModule?.("node:sqlite") as Sqlite | undefined;
	} finally {
		process.emitWarning = emitWarning;
	}
}
