/// The completion script for bash. It does not need the package bash-completion.
struct BashCompletion {
  let table: CompletionTable

  var script: String {
    """
    # Completion of petrel for bash; made by petrel completions bash.
    _petrel() {
      local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
      local first=${COMP_WORDS[1]-} second=${COMP_WORDS[2]-} command= option= words= kind= word
      COMPREPLY=()
      case $first in
    \(table.singles.map { "    \($0.name)) ((COMP_CWORD > 1)) && command='\($0.name)' ;;" }
      .joined(separator: "\n"))
      esac
      case "$first $second" in
    \(table.groups.flatMap(\.commands)
      .map { "    '\($0.name)') ((COMP_CWORD > 2)) && command='\($0.name)' ;;" }
      .joined(separator: "\n"))
      esac
      # The sign of equality is a word of its own.
      if [[ $current == = ]]; then
        option=$previous current=
      elif [[ $previous == = ]]; then
        option=${COMP_WORDS[COMP_CWORD - 2]}
      elif [[ $previous == --* ]]; then
        option=$previous
      fi
      if [[ -z $command ]]; then
        if ((COMP_CWORD == 1)); then
          words='\(table.firstWords.map(\.word).joined(separator: " "))'
        elif ((COMP_CWORD == 2)); then
          case $first in
            help) words='\(table.firstWords.dropLast().map(\.word).joined(separator: " "))' ;;
    \(table.groups.map { group in
      "        \(group.word)) words='\(group.commands.map { $0.words[1] }.joined(separator: " "))' ;;"
    }.joined(separator: "\n"))
          esac
        elif ((COMP_CWORD == 3)) && [[ $first == help ]]; then
          case $second in
    \(table.groups.map { group in
      "        \(group.word)) words='\(group.commands.map { $0.words[1] }.joined(separator: " "))' ;;"
    }.joined(separator: "\n"))
          esac
        fi
      else
        case "$command $option" in
    \(values)
          *)
            case "$command" in
    \(table.commands.map { command in
      "          '\(command.name)') words='"
        + command.options.map { "--" + $0.name }.joined(separator: " ")
        + "' kind=\(Self.kind(of: command.operand)) ;;"
    }.joined(separator: "\n"))
            esac
            if [[ $current == -* || $kind == anything ]]; then
              kind=
            elif [[ $kind == one:* ]]; then
              words=${kind#one:} words=${words//,/ } kind=
            else
              words=
            fi
            ;;
        esac
      fi
      case $kind in
        files) while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -f -- "$current") ;;
        directories) while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -d -- "$current") ;;
        *) for word in $words; do [[ $word == "$current"* ]] && COMPREPLY+=("$word"); done ;;
      esac
      [[ -n $kind ]] && compopt -o filenames 2>/dev/null
      return 0
    }
    complete -F _petrel petrel

    """
  }

  private var values: String {
    table.commands.flatMap { command in
      command.options.compactMap { option in
        option.value.map { value in
          let place = "      '\(command.name) --\(option.name)')"
          switch value {
          case .anything: return "\(place) ;;"
          case .files: return "\(place) kind=files ;;"
          case .directories: return "\(place) kind=directories ;;"
          case .oneOf(let words): return "\(place) words='\(words.joined(separator: " "))' ;;"
          }
        }
      }
    }.joined(separator: "\n")
  }

  /// Returns the text by which the script knows the possible values of an operand.
  private static func kind(of word: CompletionTable.Word) -> String {
    switch word {
    case .anything: "anything"
    case .files: "files"
    case .directories: "directories"
    case .oneOf(let words): "one:" + words.joined(separator: ",")
    }
  }
}
