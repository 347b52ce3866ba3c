import CommandInterface

/// The completion script for zsh. It uses zsh's function `_arguments`.
struct ZshCompletion {
  let table: CompletionTable

  var script: String {
    """
    #compdef petrel
    # Completion of petrel for zsh; made by petrel completions zsh.
    _petrel() {
      local -a choices
      local base=1
      [[ $words[2] == help ]] && base=2
      if ((CURRENT == base + 1)); then
        choices=(
    \(table.firstWords.map { "      \(Self.choice($0.word, $0.help))" }.joined(separator: "\n"))
        )
        _describe -t commands 'petrel command' choices
        return
      fi
      case $words[base+1] in
    \(table.groups.map(group).joined(separator: "\n"))
    \(table.singles.map { "    \($0.name)) _petrel_in $base 1 \(Self.arguments($0)) ;;" }
      .joined(separator: "\n"))
      esac
    }

    # Completes behind the words of a command, unless that is only asked for help.
    _petrel_in() {
      local base=$1 count=$2
      shift 2
      ((base == 1)) || return 1
      words=("${(@)words[count+1,-1]}")
      ((CURRENT -= count))
      _arguments -s : "$@"
    }

    if [[ $funcstack[1] == _petrel ]]; then
      _petrel "$@"
    else
      compdef _petrel petrel
    fi

    """
  }

  private func group(_ group: (word: String, commands: [CompletionTable.Command])) -> String {
    """
        \(group.word))
          if ((CURRENT == base + 2)); then
            choices=(
    \(group.commands.map { "          \(Self.choice($0.words[1], $0.summary))" }
      .joined(separator: "\n"))
            )
            _describe -t commands '\(group.word) command' choices
            return
          fi
          case $words[base+2] in
    \(group.commands.map { "        \($0.words[1])) _petrel_in $base 2 \(Self.arguments($0)) ;;" }
      .joined(separator: "\n"))
          esac
          ;;
    """
  }

  /// Returns a word with its description, as an argument of zsh's function `_describe`.
  private static func choice(_ word: String, _ help: String) -> String {
    quoted("\(word.replacing(":", with: "\\:")):\(help)")
  }

  private static func arguments(_ command: CompletionTable.Command) -> String {
    let options = command.options.map { option in
      let help = option.help.replacing("[", with: "\\[").replacing("]", with: "\\]")
        .replacing(":", with: "\\:")
      guard let value = option.value else { return quoted("--\(option.name)[\(help)]") }
      return quoted("--\(option.name)=[\(help)]:\(option.valueName):\(action(value))")
    }
    return (options + [quoted("*:word:\(action(command.operand))")]).joined(separator: " ")
  }

  private static func action(_ word: CompletionTable.Word) -> String {
    switch word {
    case .anything: " "
    case .files: "_files"
    case .directories: "_files -/"
    case .oneOf(let words): "(\(words.joined(separator: " ")))"
    }
  }

  private static func quoted(_ text: String) -> String {
    "'\(text.replacing("'", with: "'\\''"))'"
  }
}
