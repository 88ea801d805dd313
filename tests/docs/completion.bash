# SPDX-License-Identifier: MIT
# completion.bash FILE: the completion for bash offers commands and options.
set -eu
source "$1"
offers() { # offers WORDS... -- EXPECTED
    local expected=${*: -1}
    COMP_WORDS=("${@:1:$#-2}")
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
    _plimsoll
    case " ${COMPREPLY[*]} " in
    *" $expected "*) ;;
    *) echo "'${COMP_WORDS[*]}' offers '${COMPREPLY[*]}', not $expected" >&2; exit 1 ;;
    esac
}
offers plimsoll f -- fit
offers plimsoll ca -- cards
offers plimsoll fit --ctx -- --ctx-size
offers plimsoll cards --js -- --json
offers plimsoll fit --quality "" -- strict
offers plimsoll fit --split-mode l -- layer
plimsoll() { # what `plimsoll ps --plain` says of a machine; a name that a shell would obey is not offered
    printf 'card\tpid\tuser\tbytes\n'
    printf 'gpu0\t41233\tada\t5\ngpu1\t77\t$(false)\t5\ngpu1\t-\t-\t7\n'
}
offers plimsoll ps --sort m -- memory
offers plimsoll ps --card g -- gpu1
offers plimsoll ps --user "" -- ada
if [ "${#COMPREPLY[@]}" -ne 1 ]; then echo "users: ${COMPREPLY[*]}" >&2; exit 1; fi
offers plimsoll free 4 -- 41233
offers plimsoll free --st -- --stale
offers plimsoll free 41233 "" -- 77
offers plimsoll top --read -- --readonly
