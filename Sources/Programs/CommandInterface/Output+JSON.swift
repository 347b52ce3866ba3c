import JSONCoding

extension Output {
  /// Prints a JSON value in one line on standard output.
  package static func json(_ json: JSONValue) {
    line(json.text)
  }
}
