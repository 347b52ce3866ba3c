import Spelling

/// The help texts of a program, made from the declarations of its commands.
struct Help {
  let program: CommandProgram

  func overview(_ style: TextStyle) -> String {
    let sections = program.sections.map { section in
      (section.title.map { style.strong($0) + "\n" } ?? "")
        + Self.table(section.commands.map { ($0.name, $0.summary) })
    }
    let advice = program.advice(style)
    return """
      \(program.summary)

      usage: \(program.name) COMMAND [OPTION…]

      \(advice.isEmpty ? "" : advice + "\n\n")\(sections.joined(separator: "\n"))
      \(program.name) help COMMAND describes one command. \(program.name) help WORD lists the commands that begin with WORD.

      """
  }

  /// `nil` if no command has a second word after `word`.
  func text(ofGroup word: String) -> String? {
    let group = program.commands.filter { $0.name.hasPrefix(word + " ") }
    guard !group.isEmpty else { return nil }
    return Self.table(group.map { ($0.name, $0.summary) })
  }

  /// Returns the operands and the required options, which follow the command's name in the usage
  /// line.
  private func words(of command: any Command) -> String {
    var text = command.operands.isEmpty ? "" : " " + command.operands
    for option in command.options where option.isRequired { text += " " + option.usage }
    if command.options.contains(where: { !$0.isRequired }) { text += " [OPTION…]" }
    return text
  }

  func usage(of command: any Command) -> String {
    "\(program.name) \(command.name)" + words(of: command)
  }

  func text(of command: any Command, _ style: TextStyle) -> String {
    var text = style.strong("\(program.name) \(command.name)") + words(of: command)
    text += "\n\n\(command.summary)\n"
    if !command.options.isEmpty {
      text += "\n\(style.strong("options"))\n"
      text += Self.table(
        command.options.map { option in
          (option.usage, option.help + (option.isRequired ? "; required" : ""))
        })
    }
    text += "\n\(style.strong("example"))\n  \(command.example)\n"
    guard !command.exitStatuses.isEmpty else { return text }
    text += "\n\(style.strong("exit status"))\n"
    let statuses = command.exitStatuses + [(ExitStatus.usage, ExitStatus.usageMeaning)]
    return text + Self.table(statuses.map { (String($0.0), $0.1) })
  }

  /// Returns the correction for mistyped words: the nearest name of a command, or the nearest first
  /// word of one; `nil` if none is near.
  func nearest(to typed: String) -> String? {
    let names = program.commands.map { $0.name }
    let first = typed.split(separator: " ").first.map(String.init) ?? ""
    let firsts = Set(names.compactMap { $0.split(separator: " ").first.map(String.init) }).sorted()
    let whole = NearestWord.among(names, to: typed)
    let beginning = NearestWord.among(firsts + ["help"], to: first)
    return typed == first ? beginning ?? whole : whole ?? beginning
  }

  /// Returns the rows as text in two columns. The second column wraps at the page width, and is at
  /// least 40 characters wide.
  private static func table(_ rows: [(String, String)]) -> String {
    let width = rows.map(\.0.count).max() ?? 0
    let indent = "\n" + String(repeating: " ", count: width + 4)
    return rows.map { left, right in
      let lines = lines(of: right, width: max(40, pageWidth - width - 4))
      return "  \(left.padding(to: width))  \(lines.joined(separator: indent))\n"
    }.joined()
  }

  /// The page width, in characters.
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
