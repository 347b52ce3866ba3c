import CommandInterface
import Configuration

/// The command `petrel config`, which prints the configuration with the source of each value.
///
/// With `--check`, the command also checks the files that the configuration names. It then prints
/// the mistakes, or that there are none.
struct ConfigCommand: Command {
  let name = "config"
  let example = "petrel config --data /var/lib/petrel --check"
  let summary = "Prints the configuration in force, and where each value comes from."
  let exitStatuses = [
    (ExitStatus.done, "the configuration is valid: a server would start with it"),
    (ExitStatus.failed, "the configuration is invalid; the command prints all mistakes"),
  ]
  let options =
    ConfigurationOptions.all + [
      .init("json", nil, "prints the configuration as JSON"),
      .init("check", nil, "prints only the mistakes, also those in key files"),
    ]

  func run(_ arguments: Arguments) async throws -> Int32 {
    let (configuration, sources) = try ConfigurationOptions.configuration(
      arguments, files: arguments.flag("check"))
    if arguments.flag("check") {
      Output.line("the configuration is valid")
      return 0
    }
    let listing = ConfigurationListing(of: configuration, from: sources)
    Output.write(arguments.flag("json") ? listing.json.text + "\n" : listing.text)
    return 0
  }
}
