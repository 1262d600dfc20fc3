import type { GrantAnswer, GrantRequest } from "../../../hooks/grant-request.js";
import type { OverlayStack } from "../../../tui/overlay-stack.js";
import type { Look } from "../../../tui/select-dialog.js";
import { GrantPanel, type GrantQuestion } from "./grant-panel.js";

/** Asks, in the editor's place, whether a hook gets a handle that it requires. Cancelling means no. */
export function askGrant(
	request: GrantRequest,
	overlays: Pick<OverlayStack, "open">,
	look: Look,
	state: Pick<GrantQuestion, "places" | "guard">,
): Promise<GrantAnswer> {
	return overlays.open<GrantAnswer>((settle) => new GrantPanel(look, { request, ...state }, settle), {
		cancelled: "no",
	});
}
