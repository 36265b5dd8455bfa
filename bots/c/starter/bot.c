/* A bot to start from: it plays pay-off cards first.
 *
 * Each request is a line of JSON and gets a line with its id. The view is complete every time, so the
 * bot remembers nothing; the play is in choose(). The JSON library is cJSON.
 */

#define _POSIX_C_SOURCE 200809L /* for getline */

#include <cjson/cJSON.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static cJSON *member(const cJSON *object, const char *name)
{
    return cJSON_GetObjectItemCaseSensitive(object, name);
}

/* Return the value of a string, "" for any other type. */
static const char *text(const cJSON *item)
{
    return cJSON_IsString(item) ? item->valuestring : "";
}

/* Return the number of our side stack on which `action` discards a card of the hand, or -1. */
static int discard_stack(const char *action)
{
    const char *target = strchr(action, '-');
    if (action[0] != 'h' || !target || target[1] != 's')
        return -1;
    return atoi(target + 2);
}

/* Return the pay-off card if it can be played, else a card to the centre, else the discard onto the
 * shortest side stack (the last of equal ones), else the first action. */
static const char *choose(const cJSON *view, const cJSON *legal)
{
    const cJSON *action;
    cJSON_ArrayForEach(action, legal)
        if (strncmp(text(action), "p-", 2) == 0)
            return text(action);
    cJSON_ArrayForEach(action, legal)
        if (strstr(text(action), "-c"))
            return text(action);

    const cJSON *own = cJSON_GetArrayItem(member(view, "seats"), member(view, "seat")->valueint);
    const cJSON *side = member(own, "side");
    const char *best = NULL;
    int shortest = 0;
    cJSON_ArrayForEach(action, legal) {
        int stack = discard_stack(text(action));
        if (stack < 0)
            continue;
        int size = cJSON_GetArraySize(cJSON_GetArrayItem(side, stack));
        if (!best || size <= shortest) {
            best = text(action);
            shortest = size;
        }
    }
    return best ? best : text(legal->child);
}

/* Print the answer to `request`; return whether another one can follow. */
static bool answer(cJSON *request)
{
    const char *type = text(member(request, "type"));
    if (strcmp(type, "bye") == 0)
        return false;
    char id[32]; /* cJSON itself would round an id of 16 digits */
    snprintf(id, sizeof id, "%.0f", cJSON_GetNumberValue(member(request, "id")));
    cJSON *reply = cJSON_CreateObject();
    cJSON_AddRawToObject(reply, "id", id);
    if (strcmp(type, "move") == 0) {
        const char *move = choose(member(request, "view"), member(request, "legal"));
        cJSON_AddStringToObject(reply, "move", move);
    }
    char *line = cJSON_PrintUnformatted(reply);
    cJSON_Delete(reply);
    if (!line)
        return false;
    bool said = puts(line) >= 0 && fflush(stdout) == 0;
    cJSON_free(line);
    return said;
}

int main(void)
{
    char *line = NULL;
    size_t room = 0;
    bool open = true;
    while (open && getline(&line, &room, stdin) > 0) {
        cJSON *request = cJSON_Parse(line);
        if (!request) {
            fprintf(stderr, "expected a line of JSON, got %s", line);
            return 1;
        }
        open = answer(request);
        cJSON_Delete(request);
    }
    free(line);
    return 0;
}
