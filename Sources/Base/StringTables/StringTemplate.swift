/// The replacement of the placeholders in a localized text.
enum StringTemplate {
  /// Returns the text with the arguments in place of its placeholders.
  ///
  /// As in Foundation, the first `%@` is replaced by the first argument, the next `%@` by the
  /// second, and so on. `%2$@` is replaced by the second argument and is not counted. A percent
  /// sign that begins no placeholder stays in the text.
  static func fill(_ text: String, with arguments: [String]) -> String {
    var next = 0
    // Flags, width, precision and length belong to the placeholder but have no effect. A space is
    // not a flag here, so that "5 % discount" stays unchanged.
    let placeholder =
      #/%(?:%|(?:(\d+)\$)?[\-+#0']*\d*(?:\.\d*)?(?:hh|h|ll|l|q|L|z|t|j)?[@dDiuUxXoOfFeEgGaAcCsSp])/#
      .matchingSemantics(.unicodeScalar)
    return text.replacing(placeholder) { match in
      if match.output.0 == "%%" { return "%" }
      let index: Int
      if let position = match.output.1 {
        index = (Int(position) ?? 0) - 1
      } else {
        index = next
        next += 1
      }
      return arguments.indices.contains(index) ? arguments[index] : ""
    }
  }
}
