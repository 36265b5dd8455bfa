/* The instant bot in C: it plays the first legal action, without thinking.
 *
 * It shows that a bot needs no JSON library. It reads three members of the outermost object of each
 * line: "type", "id" and "legal". It skips all other values as a whole, strings with their escapes
 * included, so that similar text in a name, or deeper in the line, is never mistaken for a member.
 * Its answer copies the values unchanged.
 */

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { LINE_BYTES = 65536, ANSWER_BYTES = 256 };

/* A part of the line: its start and its end, which is the start of the next part. */
struct part {
    const char *start, *end;
};

/* Return the character at `*at`, escaped or not, and move `*at` behind it. Return -1 for a character
 * that none of our names has. */
static int character(const char **at)
{
    int read = (unsigned char)*(*at)++;
    if (read != '\\')
        return read;
    read = (unsigned char)*(*at)++;
    if (read != 'u')
        return read == '"' || read == '\\' || read == '/' ? read : -1;
    read = 0;
    for (int digits = 0; digits < 4 && isxdigit((unsigned char)**at); digits++, (*at)++)
        read = 16 * read + (isdigit((unsigned char)**at) ? **at - '0' : (**at | 32) - 'a' + 10);
    return read;
}

static bool equals(struct part part, const char *text)
{
    const char *at = part.start;
    while (at < part.end && *text)
        if (character(&at) != (unsigned char)*text++)
            return false;
    return at == part.end && !*text;
}

static const char *after_space(const char *at)
{
    return at + strspn(at, " \t\r");
}

/* Return the place after the string that starts at `at`, or the end of the line. */
static const char *after_string(const char *at)
{
    at++;
    while (*at && *at != '"')
        at += *at == '\\' && at[1] ? 2 : 1;
    return *at ? at + 1 : at;
}

/* Return the place of the comma or bracket after the value at `at`, or the end of the line. */
static const char *after_value(const char *at)
{
    int depth = 0;
    while (*at) {
        if (*at == '"') {
            at = after_string(at);
            continue;
        }
        if (*at == '{' || *at == '[')
            depth++;
        else if (depth == 0 && (*at == ',' || *at == '}' || *at == ']'))
            return at;
        else if (*at == '}' || *at == ']')
            depth--;
        at++;
    }
    return at;
}

/* Return the string at `at`, with its quotes; an empty part if there is none. */
static struct part string_at(const char *at)
{
    return (struct part){at, *at == '"' ? after_string(at) : at};
}

/* Write the answer to `line` into `answer`; return its length, 0 for a line that needs no answer. */
static int answer_to(const char *line, char *answer)
{
    struct part type = {line, line}, id = {line, line}, move = {line, line};
    const char *at = after_space(line);
    while (*at == '{' || *at == ',') {
        struct part key = string_at(after_space(at + 1));
        at = after_space(key.end);
        if (*at != ':')
            break;
        struct part value = {after_space(at + 1), after_value(at + 1)};
        if (equals(key, "\"type\""))
            type = string_at(value.start);
        else if (equals(key, "\"id\""))
            id = value;
        else if (equals(key, "\"legal\"") && *value.start == '[')
            move = string_at(after_space(value.start + 1));
        at = value.end;
    }
    if (id.start == id.end)
        return 0;
    int id_size = (int)(id.end - id.start), move_size = (int)(move.end - move.start);
    if (!equals(type, "\"move\"") || !move_size)
        return snprintf(answer, ANSWER_BYTES, "{\"id\":%.*s}\n", id_size, id.start);
    return snprintf(answer, ANSWER_BYTES, "{\"id\":%.*s,\"move\":%.*s}\n",
                    id_size, id.start, move_size, move.start);
}

/* Usually one read brings a line and one write sends its answer; only `bye` needs no answer. */
int main(void)
{
    static char line[LINE_BYTES];
    char answer[ANSWER_BYTES];
    size_t filled = 0;
    for (;;) {
        char *end = memchr(line, '\n', filled);
        if (!end) {
            ssize_t size = read(STDIN_FILENO, line + filled, LINE_BYTES - filled);
            if (size < 0 && errno == EINTR)
                continue;
            if (size <= 0) /* the end of input, or a full buffer without an end of line */
                return size < 0 || filled > 0;
            filled += (size_t)size;
            continue;
        }
        *end = '\0';
        int length = answer_to(line, answer);
        if (length == 0)
            return 0;
        if (length >= ANSWER_BYTES || write(STDOUT_FILENO, answer, (size_t)length) != length)
            return 1;
        filled -= (size_t)(end + 1 - line);
        memmove(line, end + 1, filled);
    }
}
