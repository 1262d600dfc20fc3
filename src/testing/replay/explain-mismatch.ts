import type { BuiltContext, TracedMessage } from "../../context/context-message.js";
import { digestContext } from "../../context/digest.js";
import { countPrefix, fullText } from "../../context/ledger.js";
import type { AppMessage, ContextRecord } from "../../log/entry.js";

/** A message that may be what differs. */
export interface SuspectMessage {
	/** Position in the request as it is computed now, from 0. */
	position: number;
	entryIndex: number | null;
	role: string;
	origin: { kind: string; hook?: string };
	text: string;
}

/** Why a request is not what it was. */
export interface MismatchReason {
	/** A sentence. */
	reason: string;
	/** The first message that differs, or that may; null when it is one that is not there any more. */
	message: SuspectMessage | null;
	/** What stood in its place in the request as it was; null when nothing did, or when the session does not say. */
	sent: SuspectMessage | null;
	/** Path of the hook that explains the difference; null when none does. */
	hook: string | null;
}

/** What there is to reason from. */
export interface MismatchEvidence {
	recorded: ContextRecord;
	/** The request as it was, where the session says it message by message; null where only the digest of it is known. */
	sent: readonly TracedMessage[] | null;
	computed: readonly TracedMessage[];
	/** The last request that was as recorded. */
	verified: readonly TracedMessage[];
	/** The last entry before the reply that belongs to no loaded hook; null when there is none. */
	foreign: { entryIndex: number; type: string } | null;
	/** Paths of the hooks that change the context. */
	hooks: readonly string[];
	/** The same request without some hooks. */
	buildWithout(hooks: ReadonlySet<string>): Promise<BuiltContext>;
}

/** A reason, and the position from which on the request differs; null when that is not known. */
interface Finding {
	reason: string;
	position: number | null;
	hook: string | null;
}

/** Requests longer than this are not searched for a stretch to leave out: the work grows with the square. */
const MAX_SEARCHED = 2000;

/** Finds the smallest change that makes a request what it was; else narrows down where the change is. */
export async function explainMismatch(evidence: MismatchEvidence): Promise<MismatchReason> {
	const found =
		(await blameHooks(evidence)) ?? findExtra(evidence) ?? findMissingHook(evidence) ?? narrowDown(evidence);
	const { reason, position, hook } = found;
	const at = (messages: readonly TracedMessage[]) => (position === null ? null : suspect(messages, position));
	return { reason, message: at(evidence.computed), sent: at(evidence.sent ?? []), hook };
}

/** Without a hook, or without all, the request is what was sent: the hook was not there then, or did something else. */
async function blameHooks({ hooks, computed, recorded, buildWithout }: MismatchEvidence): Promise<Finding | null> {
	const trials = hooks.map((hook) => [hook]);
	if (hooks.length > 1) trials.push([...hooks]);
	for (const trial of trials) {
		const { messages } = await buildWithout(new Set(trial));
		const plain = plainOf(messages);
		if (digestContext(plain) !== recorded.digest) continue;
		const [hook = null] = trial.length === 1 ? trial : [];
		return {
			reason: `Without ${trial.join(", ")} it is what was sent: the hook was not loaded then, or did something else`,
			position: countPrefix(plain, computed),
			hook,
		};
	}
	return null;
}

/** Without a stretch of messages the request is what was sent. */
function findExtra({ computed, recorded }: MismatchEvidence): Finding | null {
	const extra = computed.length - recorded.messages;
	if (extra <= 0 || computed.length > MAX_SEARCHED) return null;
	const plain = plainOf(computed);
	for (let position = 0; position <= recorded.messages; position++) {
		const rest = [...plain.slice(0, position), ...plain.slice(position + extra)];
		if (digestContext(rest) !== recorded.digest) continue;
		const reason = extra === 1 ? "One message was not in it then" : `${extra} messages in a row were not in it then`;
		return { reason, position, hook: hookAt(computed, position) };
	}
	return null;
}

/** There are entries of a hook that is not loaded. */
function findMissingHook({ foreign, sent, computed }: MismatchEvidence): Finding | null {
	if (foreign === null) return null;
	const { entryIndex, type } = foreign;
	const reason = `Entry ${entryIndex} is a ${type} of a hook that is not loaded; name the hook's file with --hook`;
	return { reason, position: sent && countPrefix(plainOf(sent), computed), hook: null };
}

/** What was in the last request that was right is not what differs, so it is something after that. */
function narrowDown({ computed, verified, sent, recorded }: MismatchEvidence): Finding {
	const position = countPrefix(plainOf(sent ?? verified), computed);
	const isMissing = recorded.messages > computed.length;
	const reason = isMissing
		? "A hook that hid or replaced less then has changed, a hook that added messages is missing, or entries were removed"
		: "A hook has changed or is missing, or the file was edited";
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
