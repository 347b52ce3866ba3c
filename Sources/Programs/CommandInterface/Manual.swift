/// The manual of a program: all commands with their options, made from their declarations.
///
/// `petrel manual` prints the manual of `petrel`; its Markdown version is
/// `docs/reference/commands.md`.
package struct Manual {
  package let program: CommandProgram

  package init(program: CommandProgram) {
    self.program = program
  }

  // MARK: Markdown

  package var markdown: String {
    var text = """
      # The commands of `\(program.name)`

      `\(program.name) manual markdown` wrote this page. [The command line](command-line.md) explains what the commands have in common.

      """
    for section in program.sections {
      if let title = section.title { text += "\n## \(title)\n" }
      for command in section.commands { text += "\n" + Self.markdown(of: command, in: program) }
    }
    return text
  }

  private static func markdown(
    of command: any Command, in program: CommandProgram
  ) -> String {
    var text = """
      ### \(command.name)

      \(command.summary)

      ```
      \(Help(program: program).usage(of: command))
      ```

      """
    if !command.options.isEmpty {
      text += "\n| option | |\n| --- | --- |\n"
      for option in command.options {
        text += "| `\(option.usage)` | \(cell(help(of: option))) |\n"
      }
    }
    text += "\nExample: `\(command.example)`\n"
    if !command.exitStatuses.isEmpty {
      text += "\n| exit status | |\n| --- | --- |\n"
      for (status, meaning) in command.exitStatuses + [(ExitStatus.usage, ExitStatus.usageMeaning)]
      {
        text += "| \(status) | \(cell(meaning)) |\n"
      }
    }
    return text
  }

  /// Returns the text with `|` escaped, because that character ends a cell of a Markdown table.
  private static func cell(_ text: String) -> String { text.replacing("|", with: "\\|") }

  private static func help(of option: Arguments.Option) -> String {
    option.help + (option.isRequired ? "; required" : "")
  }

  // MARK: man(1)

  /// The manual in the format of man(7), for section 1.
  package var man: String {
    var text = """
      .TH \(Self.escaped(program.name.uppercased())) 1
      .SH NAME
      \(Self.escaped(program.name)) \\- \(Self.escaped(program.summary))
      .SH SYNOPSIS
      .B \(Self.escaped(program.name))
      .I COMMAND
      [\\fIOPTION\\fR...]

      """
    for section in program.sections {
      text += ".SH \(Self.escaped((section.title ?? "Commands").uppercased()))\n"
      for command in section.commands { text += Self.man(of: command, in: program) }
    }
    return text
  }

  private static func man(of command: any Command, in program: CommandProgram) -> String {
    var text = ".SS \(escaped(Help(program: program).usage(of: command)))\n"
    text += escaped(command.summary) + "\n"
    for option in command.options {
      text += ".TP\n.B \(escaped(option.usage))\n\(escaped(help(of: option)))\n"
    }
    text += ".PP\nExample:\n.PP\n.RS\n.nf\n\(escaped(command.example))\n.fi\n.RE\n"
    for (status, meaning) in command.exitStatuses {
      text += ".TP\nExit status \(status)\n\(escaped(meaning))\n"
    }
    return text
  }

  /// Returns the code point in hexadecimal with at least four digits, for the roff escape
  /// `\[uXXXX]`.
  private static func hexadecimal(_ character: Unicode.Scalar) -> String {
    let digits = String(character.value, radix: 16, uppercase: true)
    return String(repeating: "0", count: max(0, 4 - digits.count)) + digits
  }

  /// Returns the text in ASCII, so that roff (the language of man pages) reads no request or escape
  /// in it. Hyphens become `\-`, so that readers can copy options from the page.
  private static func escaped(_ text: String) -> String {
    let text = text.replacing("\\", with: "\\e").replacing("-", with: "\\-").unicodeScalars
      .map { $0.isASCII ? String($0) : "\\[u\(hexadecimal($0))]" }
      .joined()
    return text.hasPrefix(".") || text.hasPrefix("'") ? "\\&" + text : text
  }
}
