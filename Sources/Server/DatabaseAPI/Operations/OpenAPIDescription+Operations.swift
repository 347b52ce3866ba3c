import CloudKitModel
import JSONCoding
import WebServices

extension OpenAPIDescription {
  /// Creates the description of operations of the client API. `docs/reference/openapi.yaml` contains
  /// this description, and parts that are written by hand.
  init(_ operations: [DatabaseAPI.Operation]) {
    self.init(
      operations.flatMap { operation in
        Self.places(of: operation).flatMap { Self.methods(of: operation, in: $0) }
      })
  }

  /// A kind of path of operations.
  private struct Place {
    /// The path without the operation's name at the end.
    var path: String
    var parameters: [String]
    /// The text before the operation's name in the IDs of operations.
    var prefix = ""
  }

  private static func places(of operation: DatabaseAPI.Operation) -> [Place] {
    var inDatabase = Place(
      path: "/database/1/{container}/{environment}/{database}/",
      parameters: ["container", "environment", "database", "clientId", "callerName"])
    let inContainer = Place(
      path: "/device/1/{container}/{environment}/",
      parameters: ["container", "environment", "clientId"])
    switch operation.place {
    case .database: return [inDatabase]
    // In Apple's archived reference, the paths of these two operations name a database. The server
    // accepts them with and without a database.
    case .container where ["tokens/create", "tokens/register"].contains(operation.name):
      inDatabase.prefix = "database-"
      return [inContainer, inDatabase]
    case .container: return [inContainer]
    }
  }

  private static func methods(of operation: DatabaseAPI.Operation, in place: Place) -> [Operation] {
    let documentation = operation.documentation
    let details = [documentation.details, access(operation)].compactMap { $0 }
    func described(_ method: String, body: JSONSchema?) -> Operation {
      Operation(
        method, place.path + operation.name,
        pathParameters: place.parameters.map { ["$ref": .string("#/components/parameters/\($0)")] },
        name: place.prefix + operation.name.replacing("/", with: "-"), tag: documentation.chapter,
        summary: documentation.summary,
        details: details.isEmpty ? nil : details.joined(separator: " "), body: body,
        isBodyRequired: body?.json["required"] != nil && !operation.takesGET,
        answer: operation.answer, answerSummary: documentation.answer)
    }
    return [described("post", body: operation.request)]
      + (operation.takesGET ? [described("get", body: nil)] : [])
  }

  /// Returns sentences about the callers and the databases of an operation; nil if every caller may
  /// call it on every database.
  private static func access(_ operation: DatabaseAPI.Operation) -> String? {
    var sentences: [String] = []
    switch operation.callers {
    case .everyone: break
    case .accounts: sentences.append("The caller is a signed-in user or a server-to-server key.")
    case .users: sentences.append("The caller is a signed-in user.")
    case .programs: sentences.append("The caller is a server-to-server key.")
    }
    if case .database(let scopes) = operation.place {
      let others = DatabaseScope.allCases.filter { !scopes.contains($0) }.map(\.pathComponent)
      if !others.isEmpty {
        sentences.append(
          "For \(others.joined(separator: " and ")) the answer has the reason code BAD_DATABASE.")
      }
    }
    return sentences.isEmpty ? nil : sentences.joined(separator: " ")
  }
}
