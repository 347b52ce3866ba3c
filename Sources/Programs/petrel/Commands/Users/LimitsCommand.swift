import CloudKitModel
import CommandInterface
import JSONCoding
import PetrelServer
import WebServices

/// The command `petrel limits`, which prints the limits that a server with this configuration sends
/// to its clients.
enum LimitsCommand: Command {
  static let name = "limits"
  static let example = "petrel limits --data /var/lib/petrel"
  static let summary = "Prints the limits that a server sends to its clients."
  static let options =
    ConfigurationOptions.ofStore + [
      .init("json", nil, "prints the limits as JSON, as the server returns them")
    ]

  static func run(_ arguments: Arguments) async throws -> Int32 {
    guard arguments.positional.isEmpty else { throw UsageError("takes only options") }
    let limits = try ConfigurationOptions.configuration(arguments).configuration.clientLimits
    if arguments.flag("json") {
      Output.line(String(decoding: LimitsResponse(limits: limits).body, as: UTF8.self))
      return ExitStatus.done
    }
    var table = Table([.init("LIMIT", "name"), .init("VALUE", "value"), .init("UNIT", "unit")])
    table.print(
      limits.map { limit in
        let value = Int64(exactly: limit.value).map { JSONValue.int($0) } ?? .double(limit.value)
        return .object([
          "name": .string(limit.name), "value": value, "unit": .string(limit.unit.rawValue),
        ])
      })
    return ExitStatus.done
  }
}
