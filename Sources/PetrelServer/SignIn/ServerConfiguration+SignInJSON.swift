extension ServerConfiguration.SignIn {
  mutating func apply(_ reader: ConfigurationReader) throws(ConfigurationError) {
    try reader.allow(["passwords", "addressHeader"])
    acceptsPasswords = try reader.bool("passwords") ?? acceptsPasswords
    addressHeader = try reader.string("addressHeader") ?? addressHeader
  }
}
