import CommandInterface

/// What can follow on a line, for the shells: made from what the commands declare.
struct CompletionTable {
  /// What a word may be.
  enum Word: Equatable {
    case anything
    case files
    case directories
    case oneOf([String])

    /// - Parameter name: as the help calls it, such as `FILE`.
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

  struct Option {
    var name: String
    var help: String
    /// Nil for a flag.
    var value: Word?
    /// As the help calls it.
    var valueName: String
  }

  struct Command {
    /// One or two of them.
    var words: [String]
    var summary: String
    var options: [Option]
    var operand: Word

    var name: String { words.joined(separator: " ") }
  }

  let commands: [Command]

  init(_ commands: [any CommandInterface.Command.Type]) {
    self.commands = commands.map { command in
      Command(
        words: command.name.split(separator: " ").map(String.init), summary: command.summary,
        options: command.options.map { option in
          Option(
            name: option.name, help: option.help,
            value: option.valueName.map { Word(named: $0, words: option.words) },
            valueName: option.valueName ?? "")
        } + [Option(name: "help", help: "tells the options", value: nil, valueName: "")],
        operand: Word(named: command.operands))
    }
  }

  /// The commands of one word.
  var singles: [Command] { commands.filter { $0.words.count == 1 } }

  /// The first words of those that have two, in their order, with the commands of each.
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

  /// What a line may begin with, with what is said of it.
  var firstWords: [(word: String, help: String)] {
    var found: [(word: String, help: String)] = []
    for command in commands where !found.contains(where: { $0.word == command.words[0] }) {
      let group = groups.first { $0.word == command.words[0] }
      let help =
        group.map { $0.commands.map { $0.words[1] }.joined(separator: ", ") } ?? command.summary
      found.append((command.words[0], help))
    }
    return found + [("help", "Tells about a command.")]
  }
}
