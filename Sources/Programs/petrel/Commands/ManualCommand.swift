import CommandInterface
import Configuration
import Foundation

/// The command `petrel manual`, which prints the manual of all commands in the format of man(7) or
/// in Markdown.
///
/// `petrel manual configuration PAGE` replaces the tables of settings in the Markdown file PAGE.
struct ManualCommand: Command {
  let name = "manual"
  let example = "petrel manual man > /usr/local/share/man/man1/petrel.1"
  let summary =
    "Prints the whole help as a page for man(1) or as Markdown, or writes the tables of settings in a page again."
  let operands = "man|markdown|configuration [PAGE]"
  let options: [Arguments.Option] = []

  func run(_ arguments: Arguments) async throws -> Int32 {
    let manual = Manual(program: Program.petrel)
    switch arguments.positional {
    case ["man"]: Output.write(manual.man)
    case ["markdown"]: Output.write(manual.markdown)
    case let words where words.count == 2 && words[0] == "configuration":
      let page = try String(contentsOfFile: words[1], encoding: .utf8)
      try ConfigurationPage.renewing(page)
        .write(toFile: words[1], atomically: true, encoding: .utf8)
    default: throw UsageError("needs man, markdown, or configuration and a page")
    }
    return ExitStatus.done
  }
}
