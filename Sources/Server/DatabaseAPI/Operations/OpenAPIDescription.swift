import JSONCoding
import WebServices

/// A description of an API in OpenAPI 3.1 (https://spec.openapis.org/oas/v3.1.1), made from the
/// declarations that the server uses itself.
package struct OpenAPIDescription: Sendable {
  /// The path items, each with its path, in the order of the operations.
  package let paths: [(path: String, item: JSONValue)]
  /// The JSON schemas that the path items refer to, by name. `Error` is the body of each failed
  /// request.
  package let schemas: [String: JSONValue]

  package init(_ operations: [Operation]) {
    var schemas = ServiceError.schema.named
    var order: [String] = []
    var items: [String: [String: JSONValue]] = [:]
    for operation in operations {
      if items[operation.path] == nil { order.append(operation.path) }
      items[operation.path, default: [:]][operation.method] = operation.json
      if !operation.pathParameters.isEmpty {
        items[operation.path]?["parameters"] = .array(operation.pathParameters)
      }
      for schema in [operation.body, operation.answer].compactMap({ $0 })
        + operation.query.map(\.schema)
      {
        schemas.merge(schema.named) { $1 }
      }
    }
    paths = order.map { ($0, .object(items[$0] ?? [:])) }
    self.schemas = schemas
  }

  /// One method of one path.
  package struct Operation: Sendable {
    package typealias QueryArgument = (
      name: String, schema: JSONSchema, summary: String, isRequired: Bool
    )

    var method: String
    var path: String
    /// The parameters that all methods of the path have.
    var pathParameters: [JSONValue]
    var query: [QueryArgument]
    /// The name in the operation's ID, which is unique together with the method.
    var name: String
    var tag: String
    var summary: String
    var details: String?
    /// The shape of the body; nil for an operation without a body.
    var body: JSONSchema?
    var isBodyRequired: Bool
    /// The shape of the answer; nil for an event stream.
    var answer: JSONSchema?
    var answerSummary: String

    package init(
      _ method: String, _ path: String, pathParameters: [JSONValue] = [],
      query: [QueryArgument] = [], name: String, tag: String, summary: String,
      details: String? = nil, body: JSONSchema? = nil, isBodyRequired: Bool = false,
      answer: JSONSchema?, answerSummary: String = "Success."
    ) {
      self.method = method
      self.path = path
      self.pathParameters = pathParameters
      self.query = query
      self.name = name
      self.tag = tag
      self.summary = summary
      self.details = details
      self.body = body
      self.isBodyRequired = isBodyRequired
      self.answer = answer
      self.answerSummary = answerSummary
    }

    fileprivate var json: JSONValue {
      var json: [String: JSONValue] = [
        "operationId": .string("\(method)-\(name)"), "tags": [.string(tag)],
        "summary": .string(summary),
        "responses": [
          "200": [
            "description": .string(answerSummary),
            "content": answer.map(Self.content) ?? [
              "text/event-stream": ["schema": ["type": "string"]]
            ],
          ],
          "default": ["$ref": "#/components/responses/Error"],
        ],
      ]
      json["description"] = details.map { .string($0) }
      if !query.isEmpty {
        json["parameters"] = .array(
          query.map { argument in
            [
              "name": .string(argument.name), "in": "query",
              "required": .bool(argument.isRequired), "schema": argument.schema.json,
              "description": .string(argument.summary),
            ]
          })
      }
      if let body {
        var request: [String: JSONValue] = ["content": Self.content(body)]
        if isBodyRequired { request["required"] = true }
        json["requestBody"] = .object(request)
      }
      return .object(json)
    }

    private static func content(_ schema: JSONSchema) -> JSONValue {
      ["application/json": ["schema": schema.json]]
    }
  }
}
