import CommandInterface

/// `petrel manual`
enum ManualCommand: Command {
  static let name = "manual"
  static let example = "petrel manual man > /usr/local/share/man/man1/petrel.1"
  static let summary = "Prints all that the help says, as a page for man(1) or as Markdown."
  static let operands = "man|markdown"
  static let options: [Arguments.Option] = []

  static func run(_ arguments: Arguments) async throws -> Int32 {
    let manual = Manual(program: Program.petrel)
    switch try arguments.word("format: man or markdown") {
    case "man": Output.write(manual.man)
    case "markdown": Output.write(manual.markdown)
    case let other: throw UsageError("the format must be man or markdown, not '\(other)'")
    }
    return ExitStatus.done
  }
}
