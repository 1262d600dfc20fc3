import type { AssistantMessage } from "@mariozechner/pi-ai";
import type {
	ContextInspection,
	ContextTotals,
	HookFigures,
	HookStatus,
	InspectOptions,
	Inspector,
} from "../commands/inspection.js";
import type { ShadowFigures } from "../commands/shadow-figures.js";
import { buildContext } from "../context/build-context.js";
import { inputTokens } from "../context/calibration.js";
import type { BuiltContext, HookEdits } from "../context/context-message.js";
import { createLedger, type HookShare, hookShares, type SentRequest } from "../context/ledger.js";
import { findNativeSummary } from "../context/native-compaction.js";
import { type CorePreamble, withoutToolsOf } from "../context/preamble.js";
import { coreAt } from "../context/recorded-preamble.js";
import { StabilityWatch } from "../context/stability.js";
import { PiError } from "../errors.js";
import { BUNDLED_HOOKS } from "../hooks/bundled.js";
import type { BundledHook } from "../hooks/bundled-hook.js";
import { bundledPath, findBundled, switchBundled } from "../hooks/bundled-words.js";
import { canChangeContext, type LoadedHook } from "../hooks/hook-registry.js";
import { type HookReach, unreachable } from "../hooks/reach.js";
import { NO_NAMES, registeredNames } from "../hooks/registered-names.js";
import { isMessageEntry, type MessageEntry, type RequestFacts, type SessionEntry } from "../log/entry.js";
import { sectionsForTools } from "../resources/system-prompt.js";
import type { Code, Store } from "../services/service-types.js";
import { sum } from "../util/sum.js";
import type { HookFailure, SessionHooks } from "./hooks/session-hooks.js";
import type { ShadowHook, ShadowHooks, ShadowPlayOptions } from "./hooks/shadow-hooks.js";
import type { SessionContext } from "./session-context.js";
import type { SessionState } from "./session-state.js";

export interface InspectorDeps {
	store: Pick<Store, "settings">;
	code: Pick<Code, "bundledHooks" | "toolSwitch">;
	/** System prompt and tools of the next request before hooks. */
	preamble(): CorePreamble;
	state: SessionState;
	context: SessionContext;
	rebuild(): Promise<void>;
	hooks: SessionHooks;
	ended: AbortSignal;
	reach(): HookReach;
	shadows: ShadowHooks;
	/** See `Inspector.hooksSaved`. */
	savedByHooks(entries: readonly SessionEntry[]): Promise<number | null>;
}

const NO_HOOKS: ReadonlySet<string> = new Set();

/** Explains past and future requests and reports the state of the hooks. Its own computations leave no figures or events. */
export class SessionInspector implements Inspector {
	constructor(private readonly deps: InspectorDeps) {}

	async inspectContext({ without = NO_HOOKS, at = null }: InspectOptions = {}): Promise<ContextInspection> {
		const { entries: all } = this.deps.state.log;
		if (at !== null && (at < 0 || at >= all.length)) {
			throw new PiError("bad_arguments", `There is no entry ${at}: the session has entries 0 to ${all.length - 1}`);
		}
		const entries = at === null ? all : Object.freeze(all.slice(0, at + 1));
		const watch = new StabilityWatch((hook) => this.deps.hooks.reportUnstable(hook));
		const past = at === null ? null : this.#pastCore(at + 1);
		const { context: session } = this.deps;
		const request = {
			preamble: past ?? this.deps.preamble(),
			facts: at === null ? session.facts(entries) : session.pastFacts(at + 1),
		};
		// Two builds: only a second answer shows that a hook is unstable.
		await this.#build(entries, request, without, watch);
		const context = await this.#build(entries, request, without, watch);
		const previous = (at === null ? this.deps.context.lastRequest : null) ?? (await this.#lastRequest(entries));
		const target = at === null ? (this.deps.state.model ?? null) : session.pastTarget(at + 1);
		const native = target && findNativeSummary(context.messages, entries, target);
		return {
			context,
			ledger: createLedger({ context, entries, previous: previous ?? "none", native }),
			native,
			isPreambleCurrent: at !== null && past === null,
			at,
			requests: all.flatMap((entry, index) => (isReply(entry) ? [index - 1] : [])),
			entries,
			previous,
			loss: previous && this.deps.context.findLoss(previous, context),
			reported: reportedCache(all, at),
			contextWindow: this.deps.state.model?.contextWindow ?? 0,
			hooks: this.#contextHooks(entries).map(({ path, name }) => ({ path, name })),
			unstable: this.#contextHooks(entries).flatMap(({ path }) =>
				this.deps.hooks.health.figures(path).isUnstable ? [path] : [],
			),
		};
	}

	contextTotals(): ContextTotals | null {
		const replies = this.deps.state.log.entries.flatMap((entry) =>
			isReply(entry) && inputTokens(entry.message) > 0 ? [entry] : [],
		);
		if (replies.length === 0) return null;
		const cost = sum(replies.map(({ message }) => message.usage.cost.total));
		return {
			requests: replies.length,
			sent: sum(replies.map(({ message }) => inputTokens(message))),
			cached: sum(replies.map(({ message }) => message.usage.cacheRead)),
			resent: sum(replies.map(({ context }) => context?.resent ?? 0)),
			cost: cost > 0 ? cost : null,
		};
	}

	hooksSaved(): Promise<number | null> {
		return this.deps.savedByHooks(this.deps.state.log.entries);
	}

	get lastRequest(): SentRequest | null {
		return this.deps.context.lastRequest;
	}

	hookStatuses(): HookStatus[] {
		const shares = hookShares(
			createLedger({ context: this.deps.context.current, entries: this.deps.state.log.entries, previous: null }),
		);
		const { loaded, failures, health, replaced } = this.deps.hooks;
		const shadows = this.deps.shadows.list();
		const isShadow = (path: string) => shadows.some((shadow) => shadow.path === path);
		const reach = this.deps.reach();
		const tools = this.deps.code.toolSwitch.list();
		const statuses = loaded.map(
			(hook): HookStatus => ({
				path: hook.path,
				name: hook.name,
				scope: hook.scope,
				...registeredNames(hook),
				tools: [...hook.tools.keys()].map((name) => ({
					name,
					replacesBuiltin: tools.some(
						(tool) => tool.name === name && tool.source === hook.path && tool.replacesBuiltin,
					),
				})),
				bundled: describeBundled(hook.path, this.deps.hooks),
				isEnabled: this.deps.hooks.isEnabled(hook),
				isShadow: isShadow(hook.path),
				problem: failures.find(({ path }) => path === hook.path)?.problem ?? null,
				figures: health.figures(hook.path),
				share: shares.get(hook.path) ?? NO_SHARE,
				cannotFire: unreachable(hook, reach),
				conflicts: loaded
					.filter((other) => other !== hook && !(hook.family && other.family === hook.family))
					.filter((other) => !replaced.has(hook.path) && !replaced.has(other.path))
					.flatMap((other) => [
						...sharedClaims(hook, other),
						...sharedEdits(hook, other, this.deps.context.current.edits),
					]),
			}),
		);
		const missing = failures.filter(({ path }) => !loaded.some((hook) => hook.path === path));
		const others = this.deps.code.bundledHooks
			? BUNDLED_HOOKS.filter(({ name }) => ![...loaded, ...missing].some(({ path }) => path === bundledPath(name)))
			: [];
		const off = [
			...missing.map((failure) => notLoaded(failure, health.figures(failure.path))),
			...others.map((hook) => turnedOff(hook, health.figures(bundledPath(hook.name)))),
		].map((status) => ({ ...status, isShadow: isShadow(status.path) }));
		const listed = new Set([...statuses, ...off].map(({ path }) => path));
		const unlisted = shadows.filter(({ path }) => !listed.has(path));
		return [...statuses, ...unlisted.map((shadow) => onlyInShadow(shadow, health.figures(shadow.path))), ...off];
	}

	playShadows(options: ShadowPlayOptions): Promise<ReadonlyMap<string, ShadowFigures> | null> {
		return this.deps.shadows.play(options);
	}

	setHookShadow(path: string, isShadow: boolean): Promise<void> {
		return this.deps.shadows.set(path, isShadow);
	}

	async setHookEnabled(path: string, isEnabled: boolean): Promise<void> {
		const { store, hooks, shadows } = this.deps;
		const { settings } = store;
		const bundled = findBundled(path);
		const hook = hooks.loaded.find((candidate) => candidate.path === path);
		const file = shadows.list().find((shadow) => shadow.path === path)?.file;
		if (bundled) {
			await settings.set("hooks", switchBundled(settings.current.hooks, bundled, isEnabled));
			await (isEnabled ? hooks.addBundled(bundled) : hooks.removeBundled(bundled));
		} else if (hook) await hooks.setEnabled(hook, isEnabled);
		else if (file && isEnabled) {
			await hooks.add(file);
			await settings.set("hooks", [...settings.current.hooks, path]);
		} else return;
		if (isEnabled) await shadows.set(path, false);
		await this.deps.rebuild();
	}

	#contextHooks(entries: readonly SessionEntry[]): LoadedHook[] {
		return this.deps.hooks.registry.hooks.filter(
			(hook) => (hook.handlers.context?.length ?? 0) > 0 && canChangeContext(hook, entries),
		);
	}

	#build(
		entries: readonly SessionEntry[],
		{ preamble, facts }: { preamble: CorePreamble; facts: RequestFacts },
		without: ReadonlySet<string>,
		watch: StabilityWatch,
	): Promise<BuiltContext> {
		const stages = this.deps.hooks
			.quietStages(() => entries, this.deps.ended, without.size > 0)
			.filter(({ hook }) => !without.has(hook));
		return buildContext(entries, watch.watch(stages, entries.length), {
			preamble: withoutToolsOf(preamble, without),
			facts: () => facts,
		});
	}

	/** The system prompt and tools at a point of the session, as the log has them; null if it does not. */
	#pastCore(end: number): CorePreamble | null {
		return coreAt(this.deps.state.log.entries, end, sectionsForTools);
	}

	/** The request that the last reply answered, computed with the current hooks. */
	async #lastRequest(entries: readonly SessionEntry[]): Promise<BuiltContext | null> {
		const reply = entries.findLastIndex(isReply);
		if (reply < 0) return null;
		const request = {
			preamble: this.#pastCore(reply) ?? this.deps.preamble(),
			facts: this.deps.context.pastFacts(reply),
		};
		return this.#build(Object.freeze(entries.slice(0, reply)), request, NO_HOOKS, new StabilityWatch());
	}
}

const NO_SHARE: HookShare = { added: 0, removed: 0 };

function isReply(entry: SessionEntry | undefined): entry is MessageEntry & { message: AssistantMessage } {
	return isMessageEntry(entry) && entry.message.role === "assistant";
}

/** See `ContextInspection.reported`. */
function reportedCache(entries: readonly SessionEntry[], at: number | null): ContextInspection["reported"] {
	const reply = at === null ? entries.findLast(isReply) : entries[at + 1];
	if (!isReply(reply)) return null;
	const { provider, model, usage } = reply.message;
	const { input, cacheRead, cacheWrite } = usage;
	const tokens = input + cacheRead + cacheWrite;
	// A provider that reports nothing looks like one that had nothing cached, until it reports something.
	const reports = ({ message }: MessageEntry & { message: AssistantMessage }) =>
		message.provider === provider && message.model === model && message.usage.cacheRead + message.usage.cacheWrite > 0;
	return tokens > 0 && entries.some((entry) => isReply(entry) && reports(entry)) ? { tokens, cached: cacheRead } : null;
}

function notLoaded(failure: HookFailure, figures: HookFigures): HookStatus {
	return {
		...failure,
		...NO_REGISTRATIONS,
		bundled: null,
		isEnabled: false,
		isShadow: false,
		figures,
		share: NO_SHARE,
	};
}

/** A hook that only the setting `shadowHooks` names. */
function onlyInShadow({ path, name, problem }: ShadowHook, figures: HookFigures): HookStatus {
	return { ...notLoaded({ path, name, scope: "settings", problem: "" }, figures), problem, isShadow: true };
}

const NO_REGISTRATIONS = { ...NO_NAMES, tools: [], cannotFire: [], conflicts: [] };

/** A bundled hook that is off, and therefore not loaded. */
function turnedOff({ name, group, description, commands }: BundledHook, figures: HookFigures): HookStatus {
	return {
		...NO_REGISTRATIONS,
		path: bundledPath(name),
		name,
		scope: "bundled",
		commands,
		bundled: { group, description, isLoaded: false, replacedBy: null },
		isEnabled: false,
		isShadow: false,
		problem: null,
		figures,
		share: NO_SHARE,
	};
}

function describeBundled(path: string, hooks: SessionHooks): HookStatus["bundled"] {
	const bundled = findBundled(path);
	if (!bundled) return null;
	const { group, description } = bundled;
	return { group, description, isLoaded: true, replacedBy: hooks.replaced.get(path)?.path ?? null };
}

/** Commands, entry types and tools that two hooks both claim. */
function sharedClaims(hook: LoadedHook, other: LoadedHook): string[] {
	const commands = [...hook.commands.keys()].filter((name) => other.commands.has(name));
	const draws = (type: string) => hook.entryTypes.get(type)?.draws ?? other.entryTypes.get(type)?.draws;
	const types = [...hook.entryTypes.keys()].filter((type) => other.entryTypes.has(type) && !draws(type));
	const tools = [...hook.tools.keys()].filter((name) => other.tools.has(name));
	return [
		...tools.map((name) => `the tool ${name} is also defined in ${other.path}`),
		...commands.map((name) => `/${name} is also a command of ${other.path}`),
		...types.map((type) => `entries of type ${type} are also written by ${other.path}`),
	];
}

/** Entries that two hooks both remove or replace in the current context. */
function sharedEdits(hook: LoadedHook, other: LoadedHook, edits: readonly HookEdits[]): string[] {
	const of = ({ path }: LoadedHook) =>
		edits.filter((edit) => edit.hook === path).flatMap(({ entries }) => [...entries]);
	const theirs = new Set(of(other));
	const both = [...new Set(of(hook))].filter((entry) => theirs.has(entry));
	if (both.length === 0) return [];
	const shown = both.slice(0, MAX_SHOWN_ENTRIES).join(", ");
	const more = both.length > MAX_SHOWN_ENTRIES ? ` and ${both.length - MAX_SHOWN_ENTRIES} more` : "";
	return [`${both.length === 1 ? "entry" : "entries"} ${shown}${more} in the context: also edited by ${other.path}`];
}

/** Maximum number of entries that a conflict names. */
const MAX_SHOWN_ENTRIES = 5;
