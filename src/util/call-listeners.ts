/**
 * Calls each listener with an event. An error that a listener throws neither affects the others nor the caller: it becomes
 * an uncaught exception, as with an `EventTarget`.
 */
export function callListeners<E>(listeners: Iterable<(event: E) => void>, event: E): void {
	for (const listener of listeners) {
		try {
			listener(event);
		} catch (error) {
			queueMicrotask(() => {
				throw error;
			});
		}
	}
}
