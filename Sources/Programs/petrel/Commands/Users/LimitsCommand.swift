import CloudKitModel
import CommandInterface
import JSONCoding
import PetrelServer
import WebServices

/// The command `petrel limits`, which prints the limits that a server with this configuration sends
/// to its clients.
struct LimitsCommand: Command {
  let name = "limits"
  let example = "petrel limits --data /var/lib/petrel"
  let summary = "Prints the limits that a server sends to its clients."
  let options =
    ConfigurationOptions.ofStore + [
      .init("json", nil, "prints the limits as JSON, as the server returns them")
    ]

  func run(_ arguments: Arguments) async throws -> Int32 {
    guard arguments.positional.isEmpty else { throw UsageError("takes only options") }
    let limits = try ConfigurationOptions.configuration(arguments).configuration.clientLimits
    if arguments.flag("json") {
      Output.line(String(decoding: LimitsResponse(limits: limits).body, as: UTF8.self))
      return ExitStatus.done
    }
    let rows = limits.map { limit -> JSONValue in
      let value = Int64(exactly: limit.value).map { JSONValue.int($0) } ?? .double(limit.value)
      return ["name": .string(limit.name), "value": value, "unit": .string(limit.unit.rawValue)]
    }
    for line in Table.lines(
      [.init("LIMIT", "name"), .init("VALUE", "value"), .init("UNIT", "unit")], rows)
    { Output.line(line) }
    return ExitStatus.done
  }
}
