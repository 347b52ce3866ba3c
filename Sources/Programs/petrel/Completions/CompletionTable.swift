import CommandInterface

/// The possible words of a command line, made from the declarations of the commands. The completion
/// scripts for the three shells are made from this table.
struct CompletionTable {
  /// The possible values of a word.
  enum Word: Equatable {
    /// Any text; shells complete nothing.
    case anything
    case files
    case directories
    case oneOf([String])

    /// Finds the possible values for a placeholder of the help.
    ///
    /// - Parameter words: The accepted values; empty if the declaration does not list them.
    init(named name: String, words: [String] = []) {
      if !words.isEmpty {
        self = .oneOf(words)
      } else if name.hasPrefix("FILE") || name == "LOCATION" {
        self = .files
      } else if name.hasPrefix("DIRECTORY") {
        self = .directories
      } else if name.contains("|") {
        self = .oneOf(name.split(separator: "|").map(String.init))
      } else {
        self = .anything
      }
    }
  }

  /// An option or flag.
  struct Option {
    var name: String
    var help: String
    var value: Word?
    /// The placeholder of the value, such as `FILE`; empty for a flag.
    var valueName: String
  }

  /// A command.
  struct Command {
    var words: [String]
    var summary: String
    var options: [Option]
    var operand: Word

    var name: String { words.joined(separator: " ") }
  }

  let commands: [Command]

  init(_ commands: [any CommandInterface.Command]) {
    self.commands = commands.map { command in
      Command(
        words: command.name.split(separator: " ").map(String.init), summary: command.summary,
        options: command.options.map { option in
          Option(
            name: option.name, help: option.help,
            value: option.valueName.map { Word(named: $0, words: option.words) },
            valueName: option.valueName ?? "")
        } + [Option(name: "help", help: "shows the options", value: nil, valueName: "")],
        operand: Word(named: command.operands))
    }
  }

  var singles: [Command] { commands.filter { $0.words.count == 1 } }

  /// The commands with two words, grouped by the first word. The groups are in the order of the
  /// help.
  var groups: [(word: String, commands: [Command])] {
    var groups: [(word: String, commands: [Command])] = []
    for command in commands where command.words.count == 2 {
      if let index = groups.firstIndex(where: { $0.word == command.words[0] }) {
        groups[index].commands.append(command)
      } else {
        groups.append((command.words[0], [command]))
      }
    }
    return groups
  }

  var firstWords: [(word: String, help: String)] {
    var found: [(word: String, help: String)] = []
    for command in commands where !found.contains(where: { $0.word == command.words[0] }) {
      let group = groups.first { $0.word == command.words[0] }
      let help =
        group.map { $0.commands.map { $0.words[1] }.joined(separator: ", ") } ?? command.summary
      found.append((command.words[0], help))
    }
    return found + [("help", "Shows the help of a command.")]
  }
}
