package malice;

import java.util.List;

/**
 * A request for one action.
 *
 * @param view the table as you see it now
 * @param events what has happened since your last request
 * @param legal every legal action
 * @param clock your time
 */
public record Move(View view, List<Event> events, List<Action> legal, Clock clock) {
    /**
     * Your time, in milliseconds.
     *
     * @param bankMs what is left of your bank; null: there is none
     * @param lastMs the wall time that your last action took; null: this is your first
     * @param lastCpuMs its CPU time
     */
    public record Clock(Double bankMs, Double lastMs, Double lastCpuMs) {}
}
