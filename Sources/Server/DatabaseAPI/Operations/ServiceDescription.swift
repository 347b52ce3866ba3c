import CloudKitModel
import JSONCoding
import WebServices

/// The operations in the form of OpenAPI 3.1 (https://spec.openapis.org/oas/v3.1.1).
///
/// `docs/openapi.yaml` contains this description, and parts that are written by hand.
struct ServiceDescription: Sendable {
  /// The path items, each with its path, in the order of the operations.
  let paths: [(path: String, item: JSONValue)]
  /// The JSON schemas that the path items refer to, by name.
  let schemas: [String: JSONValue]

  /// Creates the description of these operations.
  init(_ operations: [Operation]) {
    var schemas = ServiceError.schema.named
    var paths: [(String, JSONValue)] = []
    for operation in operations {
      let item = Self.item(operation)
      for place in Self.places(of: operation) {
        paths.append((place.path + operation.name, item(place)))
      }
      for schema in [operation.request, operation.answer].compactMap({ $0 }) {
        schemas.merge(schema.named) { $1 }
      }
    }
    self.paths = paths
    self.schemas = schemas
  }

  /// A kind of path of operations.
  private struct Place {
    /// The path without the operation's name at the end.
    var path: String
    /// The names of the path's parameters.
    var parameters: [String]
    /// The text before the operation's name in the IDs of operations.
    var prefix = ""
  }

  /// Returns the paths of an operation.
  private static func places(of operation: Operation) -> [Place] {
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

  /// Returns a function that makes the path item of an operation in a place.
  private static func item(_ operation: Operation) -> (Place) -> JSONValue {
    var post = self.operation(operation)
    let get = post
    if let request = operation.request {
      var body: [String: JSONValue] = ["content": content(request)]
      if request.json["required"] != nil, !operation.takesGET { body["required"] = true }
      post["requestBody"] = .object(body)
    }
    let methods = operation.takesGET ? ["post": post, "get": get] : ["post": post]
    let name = operation.name.replacing("/", with: "-")
    return { place in
      var members: [String: JSONValue] = [
        "parameters": .array(
          place.parameters.map { ["$ref": .string("#/components/parameters/\($0)")] })
      ]
      for (method, operation) in methods {
        let identifier = JSONValue.string("\(method)-\(place.prefix)\(name)")
        members[method] = .object(operation.merging(["operationId": identifier]) { $1 })
      }
      return .object(members)
    }
  }

  /// Returns the operation object of OpenAPI, without the request body.
  private static func operation(_ operation: Operation) -> [String: JSONValue] {
    let documentation = operation.documentation
    var json: [String: JSONValue] = [
      "tags": [.string(documentation.chapter)], "summary": .string(documentation.summary),
      "responses": [
        "200": [
          "description": .string(documentation.answer), "content": content(operation.answer),
        ],
        "default": ["$ref": "#/components/responses/Error"],
      ],
    ]
    let details = [documentation.details, access(operation)].compactMap { $0 }
    if !details.isEmpty { json["description"] = .string(details.joined(separator: " ")) }
    return json
  }

  /// Returns sentences about the callers and the databases of an operation; nil if every caller may
  /// call it on every database.
  private static func access(_ operation: Operation) -> String? {
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

  /// Returns the content object of a JSON body.
  private static func content(_ schema: JSONSchema) -> JSONValue {
    ["application/json": ["schema": schema.json]]
  }
}
