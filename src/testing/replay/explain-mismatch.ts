import type { BuiltContext, TracedMessage } from "../../context/context-message.js";
import { digestContext } from "../../context/digest.js";
import { countPrefix, fullText } from "../../context/ledger.js";
import type { AppMessage, ContextRecord } from "../../log/entry.js";

/** A message that may differ. */
export interface SuspectMessage {
	/** Position in the computed request, from 0. */
	position: number;
	entryIndex: number | null;
	role: string;
	origin: { kind: string; hook?: string };
	text: string;
}

/** Why a computed request differs from the recorded one. */
export interface MismatchReason {
	/** A sentence. */
	reason: string;
	/** The first message that differs or may differ; null if the computed request does not contain it. */
	message: SuspectMessage | null;
	/** The message at its position in the recorded request; null if none exists, or if the session does not record it. */
	sent: SuspectMessage | null;
	/** Path of the hook that explains the difference; null if none does. */
	hook: string | null;
}

export interface MismatchEvidence {
	recorded: ContextRecord;
	/** The recorded request, message by message; null if the session has only its digest. */
	sent: readonly TracedMessage[] | null;
	computed: readonly TracedMessage[];
	/** The last request that matched its record. */
	verified: readonly TracedMessage[];
	/** The last entry before the reply that belongs to no loaded hook; null if none exists. */
	foreign: { entryIndex: number; type: string } | null;
	/** Paths of the hooks that change the context. */
	hooks: readonly string[];
	/** The same request without some hooks. */
	buildWithout(hooks: ReadonlySet<string>): Promise<BuiltContext>;
}

/** A reason and the position of the first difference, null if it is unknown. */
interface Finding {
	reason: string;
	position: number | null;
	hook: string | null;
}

/** Longer requests are not searched for extra messages, because the search takes quadratic time. */
const MAX_SEARCHED = 2000;

/** Finds the smallest change that restores the recorded request; if none exists, narrows down the difference. */
export async function explainMismatch(evidence: MismatchEvidence): Promise<MismatchReason> {
	const found =
		(await blameHooks(evidence)) ?? findExtra(evidence) ?? findMissingHook(evidence) ?? narrowDown(evidence);
	const { reason, position, hook } = found;
	const at = (messages: readonly TracedMessage[]) => (position === null ? null : suspect(messages, position));
	return { reason, message: at(evidence.computed), sent: at(evidence.sent ?? []), hook };
}

/** Tests whether the request matches without one hook, or without all hooks. */
async function blameHooks({ hooks, computed, recorded, buildWithout }: MismatchEvidence): Promise<Finding | null> {
	const trials = hooks.map((hook) => [hook]);
	if (hooks.length > 1) trials.push([...hooks]);
	for (const trial of trials) {
		const { messages } = await buildWithout(new Set(trial));
		const plain = plainOf(messages);
		if (digestContext(plain) !== recorded.digest) continue;
		const [hook = null] = trial.length === 1 ? trial : [];
		return {
			reason: `Without ${trial.join(", ")} it matches: the hook was not loaded then, or has changed`,
			position: countPrefix(plain, computed),
			hook,
		};
	}
	return null;
}

/** Tests whether the request matches without one range of consecutive messages. */
function findExtra({ computed, recorded }: MismatchEvidence): Finding | null {
	const extra = computed.length - recorded.messages;
	if (extra <= 0 || computed.length > MAX_SEARCHED) return null;
	const plain = plainOf(computed);
	for (let position = 0; position <= recorded.messages; position++) {
		const rest = [...plain.slice(0, position), ...plain.slice(position + extra)];
		if (digestContext(rest) !== recorded.digest) continue;
		const reason = extra === 1 ? "One message was added since" : `${extra} consecutive messages were added since`;
		return { reason, position, hook: hookAt(computed, position) };
	}
	return null;
}

/** Reports entries of a hook that is not loaded. */
function findMissingHook({ foreign, sent, computed }: MismatchEvidence): Finding | null {
	if (foreign === null) return null;
	const { entryIndex, type } = foreign;
	const reason = `Entry ${entryIndex} (${type}) belongs to a hook that is not loaded; load its file with --hook`;
	return { reason, position: sent && countPrefix(plainOf(sent), computed), hook: null };
}

/** Messages of the last matching request are correct, so the difference comes after them. */
function narrowDown({ computed, verified, sent, recorded }: MismatchEvidence): Finding {
	const position = countPrefix(plainOf(sent ?? verified), computed);
	const isMissing = recorded.messages > computed.length;
	const reason = isMissing
		? "A hook hides or replaces more than before, a hook that added messages is missing, or entries were removed"
		: "A hook has changed or is missing, or the session file was edited";
	return { reason, position, hook: hookAt(computed, position) };
}

function plainOf(messages: readonly TracedMessage[]): AppMessage[] {
	return messages.map(({ message }) => message);
}

function hookAt(messages: readonly TracedMessage[], position: number): string | null {
	const origin = messages[position]?.origin;
	return origin?.kind === "hook" ? origin.hook : null;
}

function suspect(messages: readonly TracedMessage[], position: number): SuspectMessage | null {
	const traced = messages[position];
	if (!traced) return null;
	const { message, entryIndex, origin } = traced;
	return {
		position,
		entryIndex,
		role: message.role,
		origin: origin.kind === "hook" ? { kind: origin.kind, hook: origin.hook } : { kind: origin.kind },
		text: fullText(message),
	};
}
