import CommandInterface

/// The completion script for fish.
struct FishCompletion {
  let table: CompletionTable

  var script: String {
    let lines =
      table.firstWords.map { Self.line("__petrel_at", "-a \($0.word) -d \(Self.quoted($0.help))") }
      + table.firstWords.dropLast().map {
        Self.line("__petrel_at help", "-a \($0.word) -d \(Self.quoted($0.help))")
      }
      + table.groups.flatMap { group in
        ["", "help "].flatMap { before in
          group.commands.map {
            Self.line(
              "__petrel_at \(before)\(group.word)",
              "-a \($0.words[1]) -d \(Self.quoted($0.summary))")
          }
        }
      } + table.commands.flatMap(Self.lines)
    return """
      # Completion of petrel for fish; made by petrel completions fish.

      # Whether these are all words before the cursor.
      function __petrel_at
          set -l words (commandline -opc)
          test "$words[2..-1]" = "$argv"
      end

      # Whether the words before the cursor begin with these.
      function __petrel_in
          set -l words (commandline -opc)
          set -l last (math 1 + (count $argv))
          test (count $words) -ge $last; and test "$words[2..$last]" = "$argv"
      end

      complete -c petrel -f
      \(lines.joined(separator: "\n"))

      """
  }

  private static func lines(of command: CompletionTable.Command) -> [String] {
    let condition = "__petrel_in \(command.name)"
    var lines = command.options.map { option in
      let end =
        switch option.value {
        case nil: ""
        case .anything?: " -x"
        case .files?: " -r -F"
        case .directories?: " -x -a '(__fish_complete_directories)'"
        case .oneOf(let words)?: " -x -a \(quoted(words.joined(separator: " ")))"
        }
      return line(condition, "-l \(option.name) -d \(quoted(option.help))\(end)")
    }
    switch command.operand {
    case .anything: break
    case .files: lines.append(line(condition, "-F"))
    case .directories: lines.append(line(condition, "-a '(__fish_complete_directories)'"))
    case .oneOf(let words):
      lines.append(line(condition, "-a \(quoted(words.joined(separator: " ")))"))
    }
    return lines
  }

  /// Returns a line of the script that applies under a condition.
  ///
  /// - Parameters:
  ///   - condition: A call of one of the script's functions, `__petrel_at` or `__petrel_in`.
  ///   - rest: The other arguments of `complete`.
  private static func line(_ condition: String, _ rest: String) -> String {
    "complete -c petrel -n '\(condition)' \(rest)"
  }

  private static func quoted(_ text: String) -> String {
    "'\(text.replacing("\\", with: "\\\\").replacing("'", with: "\\'"))'"
  }
}
