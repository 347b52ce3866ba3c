import Configuration
import DatabaseAPI
import Foundation
import HTTPService
import JSONCoding

/// The description of the admin API in OpenAPI 3.1 (https://spec.openapis.org/oas/v3.1.1). It is
/// generated from the declarations of the endpoints.
///
/// Each endpoint becomes an operation. Each shape with a name becomes a schema in `components`. The
/// router uses the same declarations, so the description cannot differ from the router.
struct AdminDescription: Sendable {
  /// The endpoints to describe.
  let endpoints: [AdminEndpoint]

  /// The whole document.
  var json: JSONValue {
    var paths: [String: [String: JSONValue]] = [:]
    var schemas: [String: JSONValue] = ["Failure": Self.failure.json]
    for endpoint in endpoints {
      paths["/" + endpoint.path, default: [:]][endpoint.method.rawValue.lowercased()] =
        Self.operation(endpoint)
      let used = endpoint.arguments.map(\.schema) + [endpoint.answerSchema].compactMap { $0 }
      for schema in used { schemas.merge(schema.named) { $1 } }
    }
    return [
      "openapi": "3.1.0",
      "info": [
        "title": "The admin API of Petrel", "version": .string(ServerVersion.current),
        "description":
          "For operators of a server. docs/reference/admin-api.md has the rules of all calls.",
      ],
      "servers": [["url": "/admin/v1"]],
      "security": [["adminKey": []]],
      "paths": .object(paths.mapValues { .object($0) }),
      "components": [
        "schemas": .object(schemas),
        "responses": [
          "Failure": [
            "description": "The request failed.",
            "content": [
              "application/json": ["schema": ["$ref": "#/components/schemas/Failure"]]
            ],
          ]
        ],
        "securitySchemes": [
          "adminKey": [
            "type": "http", "scheme": "bearer",
            "description": "A key that 'petrel keys add-admin-key' made.",
          ]
        ],
      ],
    ]
  }

  /// Returns the `operation` object of an endpoint. The arguments of a `GET` endpoint become
  /// parameters. The arguments of a `POST` endpoint become the request body.
  private static func operation(_ endpoint: AdminEndpoint) -> JSONValue {
    let name = endpoint.path.replacing("/", with: "-").replacing(".", with: "-")
    var operation: [String: JSONValue] = [
      "operationId": .string("\(endpoint.method.rawValue.lowercased())-\(name)"),
      "summary": .string(endpoint.summary),
      "tags": [.string(endpoint.path.split(separator: "/").first.map(String.init) ?? "")],
      "responses": [
        "200": ["description": "Success.", "content": content(endpoint.answerSchema)],
        "default": ["$ref": "#/components/responses/Failure"],
      ],
    ]
    switch endpoint.method {
    case .get:
      operation["parameters"] = .array(
        endpoint.arguments.map { argument in
          [
            "name": .string(argument.name), "in": "query",
            "required": .bool(argument.isRequired), "schema": argument.schema.json,
            "description": .string(argument.summary),
          ]
        })
    case .post:
      operation["requestBody"] = [
        "required": .bool(endpoint.arguments.contains(where: \.isRequired)),
        "content": ["application/json": ["schema": body(endpoint.arguments)]],
      ]
    }
    return .object(operation)
  }

  /// Returns the `content` object of a successful answer. Without a schema, the answer is an event
  /// stream.
  private static func content(_ schema: JSONSchema?) -> JSONValue {
    guard let schema else { return ["text/event-stream": ["schema": ["type": "string"]]] }
    return ["application/json": ["schema": schema.json]]
  }

  /// Returns the schema of a request body. The schema permits only these arguments as members.
  private static func body(_ arguments: [AdminArgument]) -> JSONValue {
    var properties: [String: JSONValue] = [:]
    for argument in arguments {
      var property = argument.schema.json.object ?? [:]
      property["description"] = .string(argument.summary)
      properties[argument.name] = .object(property)
    }
    return [
      "type": "object", "properties": .object(properties), "additionalProperties": false,
      "required": .array(arguments.filter(\.isRequired).map { .string($0.name) }),
    ]
  }

  /// The shape of the answer to a request that fails.
  private static let failure = JSONSchema([
    "type": "object",
    "properties": [
      "uuid": ["type": "string", "description": "the ID in the server's log"],
      "serverErrorCode": ["type": "string"], "reason": ["type": "string"],
      "retryAfter": ["type": "number", "description": "seconds"],
    ],
    "required": ["uuid", "serverErrorCode", "reason"],
  ])
}

/// The endpoint `openapi.json`, which returns the API's description of itself.
struct AdminDescriptionEndpoints: AdminEndpoints {
  /// All other endpoints. The description contains this endpoint too.
  let others: [AdminEndpoint]

  static let endpoints: [AdminHandler<Self>] = [
    .get("openapi.json", [], "This description", answers: .map(.anything)) { group in
      { _ in
        let all = group.others + Self.declarations
        return HTTPResponse(json: Data(AdminDescription(endpoints: all).json.text.utf8))
      }
    }
  ]
}
