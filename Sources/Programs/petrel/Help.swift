import PetrelServer

/// The texts that tell how the program is used, made from what its commands declare.
enum Help {
  /// Groups of which the overview shows the first word alone: who needs them looks further.
  private static let folded: [String: String] = [
    "bench": "Measures saves, notifications, pushes, queries and matching."
  ]

  static func overview(_ style: TextStyle) -> String {
    let sections = CommandMatter.allCases.compactMap { matter -> String? in
      let rows = rows(of: matter)
      guard !rows.isEmpty else { return nil }
      return style.strong(matter.rawValue) + "\n" + table(rows)
    }
    return """
      Petrel runs CloudKit subscriptions outside iCloud.

      usage: petrel COMMAND [OPTION…]

      Begin with \(style.strong("petrel demo")), which shows it at work, or with \
      \(style.strong("petrel serve")), which runs a server
      in this directory; \(style.strong("petrel doctor")) says whether all is well with it.

      \(sections.joined(separator: "\n"))
      petrel help COMMAND tells more of a command, and petrel help WORD of those that begin with it.

      """
  }

  private static func rows(of matter: CommandMatter) -> [(String, String)] {
    var rows: [(String, String)] = []
    var shown: Set<String> = []
    for command in Program.commands {
      let first = String(command.name.prefix { $0 != " " })
      guard CommandMatter(ofCommandsBeginning: first) == matter else { continue }
      guard let summary = folded[first] else {
        rows.append((command.name, command.summary))
        continue
      }
      if shown.insert(first).inserted { rows.append(("\(first) …", summary)) }
    }
    return rows
  }

  /// The commands that begin with a word; nil when none is longer than that.
  static func text(ofGroup word: String, _ style: TextStyle) -> String? {
    let group = Program.commands.filter { $0.name.hasPrefix(word + " ") }
    guard !group.isEmpty else { return nil }
    return table(group.map { ($0.name, $0.summary) })
  }

  static func text(of command: any Command.Type, _ style: TextStyle) -> String {
    var text = style.strong("petrel \(command.name)")
    if !command.operands.isEmpty { text += " " + command.operands }
    for option in command.options where option.isRequired { text += " " + option.usage }
    if command.options.contains(where: { !$0.isRequired }) { text += " [OPTION…]" }
    text += "\n\n\(command.summary)\n"
    if !command.options.isEmpty {
      text += "\n\(style.strong("options"))\n"
      text += table(
        command.options.map { option in
          (option.usage, option.help + (option.isRequired ? "; required" : ""))
        })
    }
    text += "\n\(style.strong("example"))\n  \(command.example)\n"
    guard !command.exitStatuses.isEmpty else { return text }
    text += "\n\(style.strong("exit status"))\n"
    let statuses = command.exitStatuses + [(ExitStatus.usage, ExitStatus.usageMeaning)]
    return text + table(statuses.map { (String($0.0), $0.1) })
  }

  /// The command, or the first word of some, that is nearest to what was typed.
  static func nearest(to typed: String) -> String? {
    let names = Program.commands.map { $0.name }
    let first = typed.split(separator: " ").first.map(String.init) ?? ""
    let firsts = Set(names.compactMap { $0.split(separator: " ").first.map(String.init) }).sorted()
    let whole = NearestWord.among(names, to: typed)
    let beginning = NearestWord.among(firsts + ["help"], to: first)
    return typed == first ? beginning ?? whole : whole ?? beginning
  }

  /// Rows of two columns, the second one broken where a line would be longer than a page is wide.
  private static func table(_ rows: [(String, String)]) -> String {
    let width = rows.map(\.0.count).max() ?? 0
    let indent = "\n" + String(repeating: " ", count: width + 4)
    return rows.map { left, right in
      let lines = lines(of: right, width: max(40, pageWidth - width - 4))
      return "  \(left.padding(to: width))  \(lines.joined(separator: indent))\n"
    }.joined()
  }

  private static let pageWidth = 100

  private static func lines(of text: String, width: Int) -> [String] {
    var lines = [""]
    for word in text.split(separator: " ") {
      let line = lines[lines.count - 1]
      if line.isEmpty || line.count + 1 + word.count <= width {
        lines[lines.count - 1] = line.isEmpty ? String(word) : line + " " + word
      } else {
        lines.append(String(word))
      }
    }
    return lines
  }
}
