import JSONCoding

extension Output {
  /// Prints a JSON object on a line of its own.
  package static func json(_ json: JSONValue) {
    line(json.text)
  }
}
