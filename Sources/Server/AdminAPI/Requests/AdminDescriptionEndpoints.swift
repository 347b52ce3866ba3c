import Configuration
import DatabaseAPI
import Foundation
import HTTPService
import JSONCoding
import WebServices

/// The endpoint `openapi.json`, which returns the API's description of itself.
struct AdminDescriptionEndpoints: AdminEndpoints {
  /// All other endpoints. The description contains this endpoint too.
  let others: [AdminEndpoint]

  static let endpoints: [AdminHandler<Self>] = [
    .get("openapi.json", [], "This description", answers: .map(.anything)) { group in
      { _ in HTTPResponse(json: Data(group.document.text.utf8)) }
    }
  ]

  private var document: JSONValue {
    let description = OpenAPIDescription((others + Self.declarations).map(\.described))
    return [
      "openapi": "3.1.0",
      "info": [
        "title": "The admin API of Petrel", "version": .string(ServerVersion.current),
        "description":
          "For operators of a server. docs/reference/admin-api.md has the rules of all calls.",
      ],
      "servers": [["url": "/admin/v1"]],
      "security": [["adminKey": []]],
      "paths": .object(
        Dictionary(uniqueKeysWithValues: description.paths.map { ($0.path, $0.item) })),
      "components": [
        "schemas": .object(description.schemas),
        "responses": [
          "Error": [
            "description": "The request failed.",
            "content": ["application/json": ["schema": ServiceError.schema.json]],
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
}

extension AdminEndpoint {
  /// The endpoint in the API's description. The arguments of a `GET` endpoint are in the query, those
  /// of a `POST` endpoint are the members of the body.
  fileprivate var described: OpenAPIDescription.Operation {
    let body = JSONSchema.object(
      Dictionary(
        uniqueKeysWithValues: arguments.map {
          ($0.name + ($0.isRequired ? "" : "?"), $0.schema.described($0.summary))
        }))
    return OpenAPIDescription.Operation(
      method.rawValue.lowercased(), "/" + path,
      query: method == .get
        ? arguments.map { ($0.name, $0.schema, $0.summary, $0.isRequired) } : [],
      name: path.replacing("/", with: "-").replacing(".", with: "-"),
      tag: path.split(separator: "/").first.map(String.init) ?? "", summary: summary,
      body: method == .post ? body : nil,
      isBodyRequired: arguments.contains(where: \.isRequired), answer: answerSchema)
  }
}
