/* GlueVectors.java - what Amazon's serialisers and Avro's own writer make; see glue.py. */
import com.amazonaws.services.schemaregistry.common.configs.GlueSchemaRegistryConfiguration;
import com.amazonaws.services.schemaregistry.serializers.GlueSchemaRegistrySerializationFacade;
import com.amazonaws.services.schemaregistry.serializers.json.JsonDataWithSchema;
import com.google.protobuf.*;
import java.io.ByteArrayOutputStream;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.util.*;
import org.apache.avro.*;
import org.apache.avro.file.*;
import org.apache.avro.generic.*;
import software.amazon.awssdk.auth.credentials.*;
import software.amazon.awssdk.services.glue.model.DataFormat;

class GlueVectors {
  static void print(String name, byte[] b) {
    StringBuilder s = new StringBuilder();
    for (byte x : b) s.append(String.format("%02x", x));
    System.out.println(name + " " + (b.length == 0 ? "-" : s));
  }
  static GlueSchemaRegistrySerializationFacade facade(String compression) {
    Map<String, Object> c = new HashMap<>();
    c.put("region", "eu-west-1");
    c.put("compression", compression);
    c.put("avroRecordType", "GENERIC_RECORD");
    return GlueSchemaRegistrySerializationFacade.builder()
        .glueSchemaRegistryConfiguration(new GlueSchemaRegistryConfiguration(c))
        .credentialProvider(StaticCredentialsProvider.create(AwsBasicCredentials.create("a", "b"))).build();
  }
  static final UUID ID = UUID.fromString("b7b4a7f0-9c96-4e4a-a687-fb5de9ef0c63");

  static GenericRecord order(Schema s, int i) {
    GenericRecord r = new GenericData.Record(s);
    r.put("id", 5_000_000_000L + i);
    r.put("customer", "café \"" + i + "\"\n");
    r.put("paid", i % 2 == 0);
    r.put("total", new Conversions.DecimalConversion().toBytes(new BigDecimal(i % 3 == 0 ? "-12.30" : "1234567.05"),
        s.getField("total").schema(), s.getField("total").schema().getLogicalType()));
    r.put("weight", i == 2 ? Float.POSITIVE_INFINITY : 0.1f * i);
    r.put("ratio", i == 1 ? Double.NaN : 1.0 / 3 * i);
    r.put("state", new GenericData.EnumSymbol(s.getField("state").schema(), i % 2 == 0 ? "OPEN" : "CLOSED"));
    GenericRecord line = new GenericData.Record(s.getField("lines").schema().getElementType());
    line.put("sku", "S" + i);
    line.put("n", -i);
    r.put("lines", i == 0 ? List.of() : List.of(line, line));
    r.put("tags", new TreeMap<>(i == 0 ? Map.of() : Map.of("k", "v", "l", "")));
    r.put("note", i == 0 ? null : i == 1 ? "text" : (Object) line);
    r.put("raw", ByteBuffer.wrap(new byte[] {0, 65, (byte) 0x80, (byte) 0xff, 34}));
    r.put("hash", new GenericData.Fixed(s.getField("hash").schema(), new byte[] {1, 2, (byte) 0xfe}));
    r.put("at", 1700000000000L + i);
    return r;
  }
  static final String SCHEMA = "{\"type\":\"record\",\"name\":\"Order\",\"namespace\":\"shop\",\"fields\":["
      + "{\"name\":\"id\",\"type\":\"long\"},{\"name\":\"customer\",\"type\":\"string\"},{\"name\":\"paid\",\"type\":\"boolean\"},"
      + "{\"name\":\"total\",\"type\":{\"type\":\"bytes\",\"logicalType\":\"decimal\",\"precision\":12,\"scale\":2}},"
      + "{\"name\":\"weight\",\"type\":\"float\"},{\"name\":\"ratio\",\"type\":\"double\"},"
      + "{\"name\":\"state\",\"type\":{\"type\":\"enum\",\"name\":\"State\",\"symbols\":[\"OPEN\",\"CLOSED\"]}},"
      + "{\"name\":\"lines\",\"type\":{\"type\":\"array\",\"items\":{\"type\":\"record\",\"name\":\"Line\",\"fields\":["
      + "{\"name\":\"sku\",\"type\":\"string\"},{\"name\":\"n\",\"type\":\"int\"}]}}},"
      + "{\"name\":\"tags\",\"type\":{\"type\":\"map\",\"values\":\"string\"}},"
      + "{\"name\":\"note\",\"type\":[\"null\",\"string\",\"Line\"]},{\"name\":\"raw\",\"type\":\"bytes\"},"
      + "{\"name\":\"hash\",\"type\":{\"type\":\"fixed\",\"name\":\"H\",\"size\":3}},"
      + "{\"name\":\"at\",\"type\":{\"type\":\"long\",\"logicalType\":\"timestamp-millis\"}}]}";

  static DescriptorProtos.FieldDescriptorProto field(String name, int number, DescriptorProtos.FieldDescriptorProto.Type t) {
    return DescriptorProtos.FieldDescriptorProto.newBuilder().setName(name).setNumber(number).setType(t)
        .setLabel(DescriptorProtos.FieldDescriptorProto.Label.LABEL_OPTIONAL).build();
  }

  public static void main(String[] a) throws Exception {
    Schema s = new Schema.Parser().parse(SCHEMA);
    print("schema", SCHEMA.getBytes("UTF-8"));
    for (String compression : new String[] {"NONE", "ZLIB"}) {
      GlueSchemaRegistrySerializationFacade f = facade(compression);
      for (int i = 0; i < 3; i++) print("avro:" + compression + ":" + i, f.serialize(DataFormat.AVRO, order(s, i), ID));
      print("json:" + compression, f.serialize(DataFormat.JSON,
          JsonDataWithSchema.builder("{\"type\":\"object\"}", "{\"a\": [1, 2.50, \"x\"]}").build(), ID));
    }
    for (CodecFactory codec : new CodecFactory[] {CodecFactory.nullCodec(), CodecFactory.deflateCodec(6),
             CodecFactory.snappyCodec(), CodecFactory.zstandardCodec(3, true)}) {
      ByteArrayOutputStream out = new ByteArrayOutputStream();
      DataFileWriter<GenericRecord> w = new DataFileWriter<>(new GenericDatumWriter<GenericRecord>(s));
      w.setCodec(codec);
      w.create(s, out, new byte[] {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15});
      for (int i = 0; i < 3; i++) {
        w.append(order(s, i));
        if (i == 1) w.sync();
      }
      w.close();
      print("file:" + codec.toString().split("-")[0].split("\\[")[0], out.toByteArray());
    }
    // Which message has which number? Messages, some of them nested, whose order in the file is not their names'.
    DescriptorProtos.DescriptorProto inner = DescriptorProtos.DescriptorProto.newBuilder().setName("Inner")
        .addField(field("x", 1, DescriptorProtos.FieldDescriptorProto.Type.TYPE_INT32)).build();
    DescriptorProtos.DescriptorProto deep = DescriptorProtos.DescriptorProto.newBuilder().setName("Deep")
        .addNestedType(inner).addField(field("y", 1, DescriptorProtos.FieldDescriptorProto.Type.TYPE_STRING)).build();
    DescriptorProtos.FileDescriptorProto.Builder file = DescriptorProtos.FileDescriptorProto.newBuilder()
        .setName("shop.proto").setPackage("shop").setSyntax("proto3");
    for (String name : new String[] {"Zebra", "apple", "Mango", "Apple"})
      file.addMessageType(DescriptorProtos.DescriptorProto.newBuilder().setName(name).addNestedType(deep).addNestedType(inner)
          .addField(field("id", 1, DescriptorProtos.FieldDescriptorProto.Type.TYPE_INT64)));
    Descriptors.FileDescriptor fd = Descriptors.FileDescriptor.buildFrom(file.build(), new Descriptors.FileDescriptor[0]);
    print("descriptors", DescriptorProtos.FileDescriptorSet.newBuilder().addFile(file).build().toByteArray());
    com.amazonaws.services.schemaregistry.serializers.protobuf.MessageIndexFinder finder =
        new com.amazonaws.services.schemaregistry.serializers.protobuf.MessageIndexFinder();
    for (int i = 0; i < 16; i++) print("index:" + i, finder.getByIndex(fd, i).getFullName().getBytes("UTF-8"));
    for (String compression : new String[] {"NONE", "ZLIB"})
      for (String name : new String[] {"Zebra", "Apple"}) {
        Descriptors.Descriptor d = fd.findMessageTypeByName(name);
        DynamicMessage m = DynamicMessage.newBuilder(d).setField(d.findFieldByName("id"), 150L).build();
        print("protobuf:" + compression + ":" + name, facade(compression).serialize(DataFormat.PROTOBUF, m, ID));
      }
    Descriptors.Descriptor d = fd.findMessageTypeByName("Mango").findNestedTypeByName("Deep");
    print("protobuf:NONE:Deep", facade("NONE").serialize(DataFormat.PROTOBUF,
        DynamicMessage.newBuilder(d).setField(d.findFieldByName("y"), "hi").build(), ID));
  }
}
