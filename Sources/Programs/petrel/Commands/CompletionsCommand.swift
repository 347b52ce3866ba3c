import CommandInterface

/// The command `petrel completions`, which prints a completion script for bash, zsh or fish.
struct CompletionsCommand: Command {
  let name = "completions"
  let example = "petrel completions bash > /usr/share/bash-completion/completions/petrel"
  let summary = "Prints what a shell needs to complete commands and options."
  let operands = "bash|zsh|fish"
  let options: [Arguments.Option] = []

  func run(_ arguments: Arguments) async throws -> Int32 {
    let table = CompletionTable(Program.petrel.commands)
    switch try arguments.word("shell: bash, zsh or fish") {
    case "bash": Output.write(BashCompletion(table: table).script)
    case "zsh": Output.write(ZshCompletion(table: table).script)
    case "fish": Output.write(FishCompletion(table: table).script)
    case let other: throw UsageError("the shell must be bash, zsh or fish, not '\(other)'")
    }
    return ExitStatus.done
  }
}
