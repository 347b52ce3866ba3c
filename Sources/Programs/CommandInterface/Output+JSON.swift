import JSONCoding

extension Output {
  package static func json(_ json: JSONValue) {
    line(json.text)
  }
}
